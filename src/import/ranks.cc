// The metadata with the ranks depends on the writer of the file: Kineto writes one object for the one process of its
// file, a merge writes a list by pid. Only these short values are parsed, by simdjson's DOM.
// SPDX-License-Identifier: Apache-2.0
#include "import/ranks.h"

#include <simdjson.h>

#include <optional>
#include <unordered_map>

#include "base/metadata_keys.h"

namespace opscope {
namespace {

std::optional<int32_t> RankIn(const simdjson::dom::element& object) {
  int64_t rank = 0;
  if (object["rank"].get(rank) != simdjson::SUCCESS || rank < 0 || rank > INT32_MAX) return std::nullopt;
  return static_cast<int32_t>(rank);
}

void ReadWorldSize(const simdjson::dom::element& object, TraceBuilder* builder) {
  uint64_t size = 0;
  if (object["world_size"].get(size) == simdjson::SUCCESS && size <= UINT32_MAX)
    builder->info().world_size = static_cast<uint32_t>(size);
}

void SetRank(int32_t rank, TraceBuilder* builder) {
  for (size_t row = 0; row < builder->process_count(); ++row)
    builder->process(static_cast<ProcessId>(row)).rank = rank;
}

void SetRanksByPid(const simdjson::dom::element& merge, TraceBuilder* builder) {
  std::unordered_map<int64_t, int32_t> rank_of;
  simdjson::dom::array inputs, processes;
  if (merge["inputs"].get(inputs) != simdjson::SUCCESS) return;
  for (const simdjson::dom::element input : inputs) {
    if (input["processes"].get(processes) != simdjson::SUCCESS) continue;
    for (const simdjson::dom::element process : processes) {
      const std::optional<int32_t> rank = RankIn(process);
      int64_t pid = 0;
      if (rank && process["pid"].get(pid) == simdjson::SUCCESS) rank_of.emplace(pid, *rank);
    }
  }
  for (size_t row = 0; row < builder->process_count(); ++row) {
    ProcessRow& process = builder->process(static_cast<ProcessId>(row));
    const auto found = rank_of.find(process.pid);
    if (process.pid_text == StringId::kNone && found != rank_of.end()) process.rank = found->second;
  }
}

void SetHost(const simdjson::dom::element& name, TraceBuilder* builder) {
  std::string_view host;
  if (name.get(host) != simdjson::SUCCESS || host.empty()) return;
  const StringId id = builder->Intern(host);
  for (size_t row = 0; row < builder->process_count(); ++row) {
    ProcessRow& process = builder->process(static_cast<ProcessId>(row));
    if (process.host == StringId::kNone) process.host = id;
  }
}

}  // namespace

void ReadRanksAndHosts(TraceBuilder* builder) {
  simdjson::dom::parser parser;
  const auto read = [&](std::string_view key, auto use) {
    const std::string_view json = builder->FindMetadata(key);
    simdjson::dom::element value;
    if (!json.empty() && parser.parse(json.data(), json.size()).get(value) == simdjson::SUCCESS) use(value);
  };
  // After a merge this metadata may be that of one input; the list of processes has the hosts.
  if (builder->FindMetadata(kMergeMetadata).empty())
    read(kHostKey, [&](const simdjson::dom::element& name) { SetHost(name, builder); });
  read(kDistributedKey, [&](const simdjson::dom::element& info) {
    ReadWorldSize(info, builder);
    if (const std::optional<int32_t> rank = RankIn(info)) SetRank(*rank, builder);
  });
  read(kMergeMetadata, [&](const simdjson::dom::element& merge) {
    ReadWorldSize(merge, builder);
    SetRanksByPid(merge, builder);
  });
}

}  // namespace opscope
