// An allocation that no free ends is a candidate unless it was made before the first step of its rank had ended: until
// then a program builds what it keeps on purpose, such as weights, states of the optimizer and caches.
//
//   steps        |---- 0 ----|---- 1 ----|---- 2 ----|
//   kept    +W     +S           +x          +x           W and S are not candidates, x is: 2 allocations in 2 steps
//
// The number of steps distinguishes steady growth from memory that is only alive because the recording ended.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/leak_candidates.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/allocation_spans.h"
#include "analysis/memory_blocks.h"
#include "analysis/memory_events.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/track_spans.h"
#include "base/saturating.h"

namespace opscope {
namespace {

// When the first step of each rank ended.
std::map<int32_t, int64_t> EndsOfFirstSteps(const Trace& trace) {
  std::map<int32_t, std::pair<int64_t, int64_t>> first;  // begin and end
  const StepColumns& steps = trace.steps();
  for (const SpanId span : steps.span) {
    if (span == SpanId::kNone) continue;
    const auto [begin, end] = TimeOfSpan(trace.spans(), Row(span));
    const std::pair step(begin, end);
    const auto [found, is_new] = first.emplace(RankOfTrack(trace, trace.spans().track[Row(span)]), step);
    if (!is_new) found->second = std::min(found->second, step);
  }
  std::map<int32_t, int64_t> ends;
  for (const auto& [rank, step] : first)
    ends[rank] = step.second;
  return ends;
}

struct LeakGroup {
  uint64_t allocations = 0;
  int64_t bytes = 0;
  std::vector<uint32_t> steps;  // of consecutive allocations; a step that others interrupt occurs again

  uint64_t CountSteps() {
    std::sort(steps.begin(), steps.end());
    return static_cast<uint64_t>(std::unique(steps.begin(), steps.end()) - steps.begin());
  }
};

}  // namespace

std::vector<LeakCandidateRow> FindLeakCandidates(const Trace& trace) {
  std::vector<LeakCandidateRow> rows;
  const AllocationColumns& events = trace.allocations();
  if (events.size() == 0) return rows;
  const std::vector<StringId> names = OperatorsOfAllocations(trace, AllocationsByTrack(trace));
  const std::map<int32_t, int64_t> first_ends = EndsOfFirstSteps(trace);
  const StepsOfRanks steps(trace);
  for (const auto& [place, of_place] : MemoryEventsByPlace(trace)) {
    const MemoryBlocks blocks(trace, of_place);
    const auto first_end = first_ends.find(place.rank);
    std::map<std::pair<uint32_t, uint32_t>, LeakGroup> groups;  // by name and stack
    StepsOfRanks::Stretch stretch;
    for (uint32_t i = 0; i < of_place.size(); ++i) {
      const uint32_t row = of_place[i];
      const int64_t time = events.time[row].ns;
      if (events.bytes[row] <= 0 || events.address[row] == 0 || blocks.EndOf(i) != MemoryBlocks::kNever) continue;
      if (first_end != first_ends.end() && time < first_end->second) continue;
      LeakGroup& group = groups[{Row(names[row]), Row(events.stack[row])}];
      ++group.allocations;
      group.bytes = SaturatingAdd(group.bytes, events.bytes[row]);
      if (time < stretch.from || time >= stretch.until) stretch = steps.StretchAround(place.rank, time);
      if (stretch.row == StepsOfRanks::kNone) continue;
      if (group.steps.empty() || group.steps.back() != stretch.row) group.steps.push_back(stretch.row);
    }
    for (auto& [key, group] : groups) {
      rows.push_back(
          {place, StringId{key.first}, StackId{key.second}, group.allocations, group.bytes, group.CountSteps()});
    }
  }
  const auto order = [&](const LeakCandidateRow& r) {
    const std::string_view name = r.name == StringId::kNone ? std::string_view() : trace.text(r.name);
    return std::tuple(r.place, name, Row(r.stack));
  };
  std::sort(rows.begin(), rows.end(), [&](const LeakCandidateRow& a, const LeakCandidateRow& b) {
    if (a.bytes != b.bytes) return a.bytes > b.bytes;
    if (a.allocations != b.allocations) return a.allocations > b.allocations;
    return order(a) < order(b);
  });
  return rows;
}

}  // namespace opscope
