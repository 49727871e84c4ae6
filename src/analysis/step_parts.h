// Divides stretches of time, such as steps, into the seven parts of `opscope steps`: what a rank did in them.
//
//   StepParts parts(trace, nullptr, tracks_with_steps);
//   StepTimes row{.rank = 0, .start_ns = begin, .duration_ns = end - begin};
//   parts.Divide(track, &row);  // sets compute_ns ... idle_ns
//
// Thread rule: immutable after construction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/intervals.h"
#include "opscope/analysis/steps.h"
#include "opscope/trace.h"

namespace opscope {

class StepParts {
 public:
  // selected: as in MeasureSteps. tracks: those that Divide is called with; the ranks of other tracks are not read.
  // O(spans), and O(n log n) in device work and in outermost host spans.
  StepParts(const Trace& trace, const std::vector<uint8_t>* selected, std::span<const TrackId> tracks);

  // Sets the parts of `row` from its rank, begin and length. Input counts on `track` alone. REQUIRES: `track` is one of
  // the constructor's, and row->rank is its rank. O(log spans).
  void Divide(TrackId track, StepTimes* row) const;

 private:
  // The sets of one rank. They grow with the priority of the parts, so that a part is what its set adds to the one
  // before.
  struct Sets {
    IntervalSet compute, kernels, works, works_and_calls, works_and_host;
    struct Inputs {
      IntervalSet beside_works;            // input spans without works
      IntervalSet beside_works_and_calls;  // and without calls
    };
    std::map<TrackId, Inputs> inputs;
  };
  std::map<int32_t, Sets> ranks_;
};

}  // namespace opscope
