// Assigns spans that cross others to additional rows. Viewers of Chrome JSON nest the complete events of a thread by
// their times, and Perfetto drops an event that crosses the end of another. In a recording such spans are common: the
// Python call that begins a `with` block or a step returns after the block began, so the two cross.
//
//   thread     |--ProfilerStep#1--------|--ProfilerStep#2-----      the thread's row
//                |--on_batch_start--|                               crosses nothing: the thread's row
//          |--enter-|            |--step--|                         cross a step: an additional row
//
// The thread's row gets operators and steps that nest in each other, then ranges that nest in those, then Python calls
// that nest in all of them. Every other span goes to the first additional row in which it nests. The file names the
// thread of each additional row (chrome_own_members.h), and the importer moves the spans back.
//
// An additional row is a thread number from 1,000,000,000 on that no thread of the trace has. Perfetto reads 32-bit
// numbers; it replaces a text by a small number, which may be that of another thread of the process.
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

// An additional row of a thread.
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
  // The additional row of a span; null if it is on its thread's row.
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
  std::vector<uint32_t> lane_of_;      // by span: 1 + index in lanes_, 0 for the thread's row; empty without lanes
};

}  // namespace opscope
