// Viewers of Chrome JSON nest the complete events of a thread by their times. Perfetto drops one that crosses the end
// of another. In a recording such spans are common: the call of Python in which a `with` block or a step begins lasts
// longer than that moment, and so crosses it.
//
//   thread     |--ProfilerStep#1--------|--ProfilerStep#2-----      the thread's row
//                |--on_batch_start--|                               crosses nothing: stays
//          |--enter-|            |--step--|                         cross a step: a row of their own
//
// Operators and steps keep the thread's row as long as they fit into each other, ranges as long as they fit into those,
// and calls of Python as long as they fit into all of them. Every other span goes to the first further row in which it
// fits. The file says to which thread such a row belongs (chrome_own_members.h), and reading it puts the spans back.
//
// A row is a thread number from 1,000,000,000 on that no thread of the trace has. Perfetto reads numbers of 32 bits;
// a text it replaces by a small number of its own, under which a thread of the process may already stand.
//
// Thread rule: one thread at a time; rows do not change once all threads are added.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// An extra row beside its thread's own.
struct ChromeLane {
  TrackId track;    // the thread
  std::string tid;  // JSON
};

class ChromeLanes {
 public:
  explicit ChromeLanes(const Trace& trace) : trace_(trace) {}

  // `rows`: the spans of one thread of a viewer, by start, longer first. O(n) where none cross, else O(n log n).
  void AddThread(TrackId track, std::span<const uint32_t> rows);

  const std::vector<ChromeLane>& lanes() const { return lanes_; }
  // The extra row of a span; null if it stays on its track's row.
  const ChromeLane* LaneOf(uint32_t span) const {
    return lane_of_.empty() || lane_of_[span] == 0 ? nullptr : &lanes_[lane_of_[span] - 1];
  }

 private:
  static constexpr int64_t kFirstTid = 1'000'000'000;  // Linux gives threads numbers below 2^22

  std::string NewTid();

  const Trace& trace_;
  std::vector<ChromeLane> lanes_;
  int64_t next_tid_ = kFirstTid;
  std::unordered_set<int64_t> taken_;  // numbers of the trace's threads; filled for the first lane
  std::vector<uint32_t> lane_of_;      // by span: 1 + number of the lane; empty until the first span leaves its thread
};

}  // namespace opscope
