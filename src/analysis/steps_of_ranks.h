// Which step a moment of a rank lies in: the one that began last, unless it is over.
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
  // -1: outside of all steps. O(log steps).
  int64_t NumberAt(int32_t rank, int64_t time) const;

 private:
  struct Step {
    int64_t start, end, number;
  };
  std::map<int32_t, std::vector<Step>> steps_;  // in the order of their beginnings
};

// Of the process of a track; -1: not known.
int32_t RankOfTrack(const Trace& trace, TrackId track);

}  // namespace opscope
