// Takes what recording took off the recorded times. Every event costs a little; a recording carries how much
// one of each kind took on its machine (TraceInfo::own_costs), so the times that the program would have had can be
// estimated. The formulas, and what the numbers leave out, are in docs/analyses.md ("Own cost").
//
//   corrected duration = duration - subtree_ns
//   corrected self     = self time - own_ns
//
// Both are estimates and may come out below 0 for a single short span; sums are made of them as they are.
//
// Thread rule: pure functions of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

struct OwnCostOfSpans {
  std::vector<double> own_ns;      // by span: in its self time: its own inside, what its direct children and the
                                   // events directly in it cost around themselves
  std::vector<double> subtree_ns;  // by span: in its duration: own_ns of it and of every span inside it
  double whole_ns = 0;             // of all events of the recording, inside spans or not
  uint64_t events = 0;             // that were counted in whole_ns
};

// What was taken off a result.
struct Correction {
  int64_t whole_ns = 0;     // OwnCostOfSpans
  uint64_t events = 0;      // OwnCostOfSpans
  uint64_t below_zero = 0;  // spans whose duration or self time came out below 0
};

// O(n) in spans, O(log n) more per asynchronous span, counter, instant and flow. kUnsupported: the input does not
// say what recording it cost; the sentence says why.
[[nodiscard]] Result<OwnCostOfSpans> MeasureOwnCost(const Trace& trace);

}  // namespace opscope
