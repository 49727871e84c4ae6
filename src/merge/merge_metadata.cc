// Writes and reads the metadata of a merged trace.
// An entry that all inputs have with the same value stays an entry of the result. Entries that differ go into one JSON
// member:
//   "opscope_merge": {"world_size": 8, "inputs": [{"file": "rank0.json", "rank": 0, "clock": "reference", ...,
//                     "metadata": {"trace_id": "..."}}]}
// OffsetsOfRanks reads that member back when a merged trace is merged again, so that ranks are compared by their own
// clocks.
// SPDX-License-Identifier: Apache-2.0
#include "merge/merge_metadata.h"

#include <algorithm>
#include <cmath>

#include "base/json_members.h"
#include "base/json_object.h"
#include "base/parse_whole.h"

namespace opscope {
namespace {

constexpr std::string_view kMergeKey = "opscope_merge";

// Finds the entries that all inputs have, except those that are left out. A Trace has each key once.
class SharedEntries {
 public:
  SharedEntries(const std::vector<InputMetadata>& inputs, const Merged& merged) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!merged.inputs[i].left_out.empty()) continue;
      ++inputs_;
      for (const auto& [key, json] : inputs[i])
        ++count_[{key, json}];
    }
  }
  bool Has(const InputMetadata::value_type& entry) const {
    const auto found = count_.find({entry.first, entry.second});
    return found != count_.end() && found->second == inputs_;
  }

 private:
  size_t inputs_ = 0;
  std::map<std::pair<std::string_view, std::string_view>, size_t> count_;  // inputs by entry
};

void AppendProcesses(const std::vector<MergedProcess>& processes, std::string* out) {
  *out += '[';
  for (const MergedProcess& process : processes) {
    if (out->back() != '[') *out += ',';
    JsonObject object(out);
    object.Int("pid", process.pid);
    if (process.rank >= 0) object.Int("rank", process.rank);
    object.Close();
  }
  *out += ']';
}

// One object of "inputs": without what is unknown; of an input that is left out, the reason is the last member.
std::string MergedInputJson(const MergedInput& input) {
  std::string out;
  JsonObject object(&out);
  object.Text("file", input.name);
  if (input.rank >= 0) {
    object.Int("rank", input.rank);
    object.Text("rank_from", input.rank_is_from_name ? "name" : "trace");
  }
  if (!input.left_out.empty()) {
    object.Text("left_out", input.left_out);
    object.Close();
    return out;
  }
  object.Uint("spans", input.spans);
  object.Text("clock", ClockSourceName(input.clock));
  object.Int("offset_ns", input.offset_ns);
  object.Int("drift_ppb", std::llround(input.drift * 1e9));
  object.Uint("sync_points", input.sync_points);
  object.Int("residual_p50_ns", input.residual_p50_ns);
  object.Int("residual_p99_ns", input.residual_p99_ns);
  if (input.wall_bound_ns >= 0) object.Int("wall_bound_ns", input.wall_bound_ns);
  if (input.refused_fit) {
    object.Key("refused_fit");
    JsonObject fit(&out);
    fit.Int("offset_ns", input.refused_fit->offset_ns);
    fit.Int("drift_ppb", std::llround(input.refused_fit->drift * 1e9));
    fit.Int("residual_p99_ns", input.refused_fit->residual_p99_ns);
    fit.Close();
  }
  object.Key("processes");
  AppendProcesses(input.processes, &out);
  object.Close();
  return out;
}

}  // namespace

std::string_view ClockSourceName(ClockSource source) {
  static constexpr std::string_view kNames[] = {"reference", "collectives", "wall_clock", "none"};
  return kNames[static_cast<size_t>(source)];
}

InputMetadata MetadataOf(const Trace& trace) {
  InputMetadata metadata;
  const MetadataColumns& rows = trace.metadata();
  for (size_t row = 0; row < rows.size(); ++row) {
    if (trace.text(rows.key[row]) == kMergeKey) continue;
    metadata.emplace_back(trace.text(rows.key[row]), trace.text(rows.json[row]));
  }
  return metadata;
}

std::map<int32_t, int64_t> OffsetsOfRanks(const Trace& trace) {
  std::map<int32_t, int64_t> offsets;
  const MetadataColumns& rows = trace.metadata();
  for (size_t row = 0; row < rows.size(); ++row) {
    if (trace.text(rows.key[row]) != kMergeKey) continue;
    std::string_view inputs = trace.text(rows.json[row]);
    inputs = FindJsonMember(inputs.substr(std::min<size_t>(1, inputs.size())), "inputs");
    for (size_t at = 1; at < inputs.size();) {
      const size_t end = EndOfJsonValue(inputs, at);
      const std::string_view object = inputs.substr(std::min(at + 1, end), end - std::min(at + 1, end));
      const auto rank = ParseWhole<int32_t>(FindJsonMember(object, "rank"));  // of a damaged file it may be any number
      if (rank && *rank >= 0 && FindJsonMember(object, "left_out").empty())
        offsets.emplace(*rank, ParseWhole<int64_t>(FindJsonMember(object, "offset_ns")).value_or(0));
      at = end + 1;
    }
  }
  return offsets;
}

void AddMergeMetadata(const std::vector<InputMetadata>& inputs, const Merged& merged, TraceBuilder* builder) {
  const SharedEntries shared(inputs, merged);
  std::string json = "{";
  if (merged.world_size > 0) json += "\"world_size\":" + std::to_string(merged.world_size) + ",";
  json += "\"inputs\":[";
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) json += ',';
    json += MergedInputJson(merged.inputs[i]);
    json.back() = ',';  // the object goes on
    json += "\"metadata\":";
    JsonObject own(&json);
    for (const auto& entry : inputs[i]) {
      if (shared.Has(entry)) {
        builder->AddMetadata(entry.first, entry.second);
        continue;
      }
      own.EscapedKey(entry.first);
      json += entry.second;
    }
    own.Close();
    json += '}';
  }
  builder->AddMetadata(kMergeKey, json + "]}");
}

}  // namespace opscope
