// Viewers of Chrome JSON nest the complete events of a thread by their times. Perfetto drops one that crosses the end
// of another. In a recording such spans are common: the call of Python in which a `with` block or a step begins lasts
// longer than that moment, and so crosses it.
//
//   thread     |--ProfilerStep#1--------|--ProfilerStep#2-----      the thread's row
//                |--on_batch_start--|                               crosses nothing: stays
//          |--enter-|            |--step--|                         cross a step: a row of their own, "12 crossing"
//
// Operators and steps keep the thread's row as long as they fit into each other, ranges as long as they fit into those,
// and calls of Python as long as they fit into all of them. Every other span goes to the first further row in which it
// fits. The file says to which thread such a row belongs (chrome_own_members.h), and reading it puts the spans back.
//
// Thread rule: one thread at a time; rows do not change once all threads are added.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// A row beside that of its thread.
struct ChromeLane {
  TrackId track;    // the thread
  std::string tid;  // JSON
};

class ChromeLanes {
 public:
  explicit ChromeLanes(const Trace& trace) : trace_(trace) {}

  // `rows`: the spans that one thread of a viewer has, by start, longer first. O(n) where none cross, else
  // O(n log n) and, for each span, the depth of the nesting that it is compared with.
  void AddThread(TrackId track, std::span<const uint32_t> rows);

  const std::vector<ChromeLane>& lanes() const { return lanes_; }
  // Of the row that the span is drawn in; nullptr: that of its track.
  const ChromeLane* LaneOf(uint32_t span) const {
    return lane_of_.empty() || lane_of_[span] == 0 ? nullptr : &lanes_[lane_of_[span] - 1];
  }

 private:
  std::string NewTid(TrackId track, size_t number);

  const Trace& trace_;
  std::vector<ChromeLane> lanes_;
  std::set<std::pair<ProcessId, std::string>> taken_;  // texts in place of thread numbers; filled for the first lane
  std::vector<uint32_t> lane_of_;  // by span: 1 + number of the lane; empty until the first span leaves its thread
};

}  // namespace opscope
