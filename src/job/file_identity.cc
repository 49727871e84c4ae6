// Reads the metadata that Kineto and opscope write: {"rank": 3, "world_size": 8, "pg_config": [{"pg_name": "0",
// "pg_desc": "default_pg", "ranks": [0, 1]}, ...]}. What has another shape is as if it were not there.
// SPDX-License-Identifier: Apache-2.0
#include "job/file_identity.h"

#include <simdjson.h>

#include <algorithm>

#include "base/fold_case.h"
#include "base/metadata_keys.h"
#include "base/parse_whole.h"
#include "opscope/merge.h"

namespace opscope {
namespace {

class MetadataReader {
 public:
  explicit MetadataReader(const Trace& trace) : trace_(trace) {}

  // False: no such key, or no JSON.
  bool Read(std::string_view key, simdjson::dom::element* value) {
    const MetadataColumns& rows = trace_.metadata();
    for (size_t row = 0; row < rows.size(); ++row) {
      if (trace_.text(rows.key[row]) != key) continue;
      const std::string_view json = trace_.text(rows.json[row]);
      return parser_.parse(json.data(), json.size()).get(*value) == simdjson::SUCCESS;
    }
    return false;
  }

  std::optional<int64_t> ReadInteger(std::string_view key) {
    simdjson::dom::element value;
    int64_t number = 0;
    if (!Read(key, &value) || value.get(number) != simdjson::SUCCESS) return std::nullopt;
    return number;
  }

  std::string ReadText(std::string_view key) {
    simdjson::dom::element value;
    std::string_view text;
    return Read(key, &value) && value.get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
  }

 private:
  const Trace& trace_;
  simdjson::dom::parser parser_;
};

std::optional<int32_t> SmallNumber(std::optional<int64_t> number) {
  if (!number || *number < 0 || *number > INT32_MAX) return std::nullopt;
  return static_cast<int32_t>(*number);
}

std::optional<int32_t> SmallMember(const simdjson::dom::element& object, std::string_view key) {
  int64_t number = 0;
  if (object[key].get(number) != simdjson::SUCCESS) return std::nullopt;
  return SmallNumber(number);
}

// "pp" between other characters than letters, or "pipeline" anywhere.
bool IsPipeline(std::string_view description) {
  std::string lower;
  FoldCase(description, &lower);
  if (lower.find("pipeline") != std::string::npos) return true;
  const auto is_letter = [&](size_t at) { return at < lower.size() && lower[at] >= 'a' && lower[at] <= 'z'; };
  for (size_t at = lower.find("pp"); at != std::string::npos; at = lower.find("pp", at + 1))
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + 2)) return true;
  return false;
}

void ReadGroups(const simdjson::dom::element& info, FileIdentity* identity) {
  simdjson::dom::array groups, ranks;
  if (info["pg_config"].get(groups) != simdjson::SUCCESS) return;
  for (const simdjson::dom::element group : groups) {
    std::string_view name, description;
    if (group["pg_name"].get(name) != simdjson::SUCCESS || group["ranks"].get(ranks) != simdjson::SUCCESS) continue;
    std::vector<int32_t> members;
    for (const simdjson::dom::element member : ranks) {
      int64_t rank = 0;
      if (member.get(rank) == simdjson::SUCCESS && SmallNumber(rank)) members.push_back(static_cast<int32_t>(rank));
    }
    const bool has_description = group["pg_desc"].get(description) == simdjson::SUCCESS;
    if (has_description && identity->stage < 0 && IsPipeline(description)) {
      const auto place = std::find(members.begin(), members.end(), identity->rank);
      if (place != members.end()) identity->stage = static_cast<int32_t>(place - members.begin());
    }
    identity->groups.emplace(name, std::move(members));
  }
}

}  // namespace

std::optional<int32_t> AttemptFromPath(std::string_view path) {
  std::optional<int32_t> attempt;
  constexpr std::string_view kWord = "attempt";
  size_t begin = 0;
  for (size_t end; (end = path.find('/', begin)) != std::string_view::npos; begin = end + 1) {
    std::string_view folder = path.substr(begin, end - begin);
    if (!folder.starts_with(kWord)) continue;
    folder.remove_prefix(kWord.size());
    if (folder.starts_with('-') || folder.starts_with('_')) folder.remove_prefix(1);
    const std::optional<int32_t> number = ParseWhole<int32_t>(folder);
    if (number && *number >= 0) attempt = number;
  }
  return attempt;
}

FileIdentity IdentifyFile(const Trace& trace, const std::string& path, std::optional<int32_t> attempt) {
  FileIdentity identity;
  MetadataReader metadata(trace);
  simdjson::dom::element info;
  const bool has_info = metadata.Read(kDistributedKey, &info);
  const int32_t metadata_rank = has_info ? SmallMember(info, "rank").value_or(-1) : -1;
  const int32_t file_name_rank = RankFromName(path);
  if (metadata_rank >= 0) {
    identity.rank = metadata_rank;
    identity.rank_from = "metadata";
    if (file_name_rank >= 0 && file_name_rank != metadata_rank) identity.rank_of_name = file_name_rank;
  } else if (file_name_rank >= 0) {
    identity.rank = file_name_rank;
    identity.rank_from = "file_name";
  }
  if (has_info) {
    identity.world_size = SmallMember(info, "world_size").value_or(-1);
    ReadGroups(info, &identity);
  }
  if (identity.world_size == 0) identity.world_size = -1;
  const std::optional<int32_t> recorded = SmallNumber(metadata.ReadInteger(kAttemptKey));
  identity.attempt = attempt ? *attempt : recorded ? *recorded : AttemptFromPath(path).value_or(0);
  identity.host = metadata.ReadText(kHostKey);
  identity.boot = metadata.ReadText(kBootKey);
  identity.wall_error_ns = metadata.ReadInteger(kWallErrorKey);
  return identity;
}

}  // namespace opscope
