// Makes labels that are unique as far as possible. Names are used as they are; rows that share a label get one detail
// after the other (kind, number, process) until all differ, so that "main" becomes "main (1, rank 0)" only where
// several threads are called main. Tracks without spans do not count, since the user sees none of them.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/track_labels.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "analysis/steps_of_ranks.h"

namespace opscope {
namespace {

using DetailOf = std::function<std::string(uint32_t row)>;

// Strips trailing blanks: Kineto writes "stream 7 ".
std::string_view TrimTrailingBlanks(std::string_view name) {
  return name.substr(0, name.find_last_not_of(' ') + 1);
}

// Appends details in turn to names that several rows share, until no two are equal or no detail is left.
std::vector<std::string> Disambiguate(const std::vector<std::string>& names, const std::vector<uint8_t>& is_used,
                                      const std::vector<DetailOf>& details) {
  std::vector<std::string> added(names.size());  // "1, rank 0"
  const auto label = [&](size_t row) { return added[row].empty() ? names[row] : names[row] + " (" + added[row] + ")"; };
  for (const DetailOf& detail : details) {
    std::unordered_map<std::string, uint32_t> rows_of;
    for (size_t row = 0; row < names.size(); ++row)
      rows_of[label(row)] += is_used[row];
    for (uint32_t row = 0; row < names.size(); ++row) {
      if (rows_of.at(label(row)) < 2) continue;
      if (const std::string more = detail(row); !more.empty()) added[row] += (added[row].empty() ? "" : ", ") + more;
    }
  }
  std::vector<std::string> labels;
  for (size_t row = 0; row < names.size(); ++row)
    labels.push_back(label(row));
  return labels;
}

std::string RankText(int32_t rank) {
  return rank < 0 ? "" : "rank " + std::to_string(rank);
}

}  // namespace

std::string NumberOrText(const Trace& trace, int64_t number, StringId text) {
  return text == StringId::kNone ? std::to_string(number) : std::string(trace.text(text));
}

std::vector<std::string> LabelProcesses(const Trace& trace) {
  const ProcessColumns& processes = trace.processes();
  const auto number = [&](uint32_t row) { return NumberOrText(trace, processes.pid[row], processes.pid_text[row]); };
  std::vector<std::string> names;
  for (uint32_t row = 0; row < processes.size(); ++row) {
    const std::string_view name = TrimTrailingBlanks(trace.text(processes.name[row]));
    names.push_back(name.empty() ? number(row) : std::string(name));
  }
  std::vector<uint8_t> is_used(processes.size());
  for (size_t track = 0; track < trace.tracks().size(); ++track) {
    const ProcessId process = trace.tracks().process[track];
    if (trace.tracks().span_count[track] > 0 && process != ProcessId::kNone) is_used[Row(process)] = 1;
  }
  return Disambiguate(names, is_used,
                      {[&](uint32_t row) { return names[row] == number(row) ? "" : number(row); },
                       [&](uint32_t row) { return RankText(processes.rank[row]); }});
}

std::vector<std::string> LabelTracks(const Trace& trace) {
  const TrackColumns& tracks = trace.tracks();
  const auto number = [&](uint32_t row) { return NumberOrText(trace, tracks.tid[row], tracks.tid_text[row]); };
  std::vector<std::string> names;
  std::vector<uint8_t> is_used;
  for (uint32_t row = 0; row < tracks.size(); ++row) {
    const std::string_view name = TrimTrailingBlanks(trace.text(tracks.name[row]));
    names.push_back(name.empty() ? number(row) : std::string(name));
    is_used.push_back(tracks.span_count[row] > 0 ? 1 : 0);
  }
  const std::vector<std::string> processes = LabelProcesses(trace);
  const auto process = [&](uint32_t row) {
    const ProcessId id = tracks.process[row];
    if (id == ProcessId::kNone) return std::string();
    const std::string rank = RankText(trace.processes().rank[Row(id)]);
    return rank.empty() ? "process " + processes[Row(id)] : rank;
  };
  const auto annotations = [&](uint32_t row) {
    return std::string(tracks.kind[row] == TrackKind::kDeviceAnnotation ? "annotations" : "");
  };
  return Disambiguate(
      names, is_used,
      {annotations, [&](uint32_t row) { return names[row] == number(row) ? "" : number(row); }, process});
}

}  // namespace opscope
