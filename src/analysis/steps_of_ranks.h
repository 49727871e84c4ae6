// Finds the step of a rank at a time: the one that began last, unless it has ended.
//
// Thread rule: immutable, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

class StepsOfRanks {
 public:
  explicit StepsOfRanks(const Trace& trace);
  // The step's number; -1 outside of all steps. O(log steps).
  int64_t NumberAt(int32_t rank, int64_t time) const;

 private:
  struct Step {
    int64_t start, end, number;
  };
  std::map<int32_t, std::vector<Step>> steps_;  // by begin
};

// The rank of a track's process; -1 if unknown.
int32_t RankOfTrack(const Trace& trace, TrackId track);

}  // namespace opscope
