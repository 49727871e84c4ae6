// Subtracts the cost of recording from recorded times. Every event costs a little.
// A recording carries the measured cost of one event of each kind on its machine
// (TraceInfo::overheads), so the times of the unrecorded program can be estimated.
// docs/reference/overhead.md has the formulas and their limits.
//
//   corrected duration = duration - subtree_ns
//   corrected self     = self time - own_ns
//
// Both are estimates and may be negative for a single short span; sums add them up
// unclamped.
//
//   const Result<SpanOverheads> cost = MeasureOverhead(trace);
//   const OpSummary summary = SummarizeOps(trace, {.overhead = &cost.value()});
//
// Thread rule: pure functions of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// Cost of recording, by span.
struct SpanOverheads {
  // Nanoseconds in the span's self time: its own inside, and the outside of its
  // direct children and of events directly in it.
  std::vector<double> own_ns;
  // Nanoseconds in the span's duration: own_ns of it and of every span inside it.
  std::vector<double> subtree_ns;
  // Nanoseconds of all events of the recording, inside of spans or not.
  double whole_ns = 0;
  // Events that whole_ns counts.
  uint64_t events = 0;
};

// What a result was corrected by.
struct Correction {
  // As in SpanOverheads.
  int64_t whole_ns = 0;
  uint64_t events = 0;
  // Spans whose corrected duration or self time is negative.
  uint64_t below_zero = 0;
};

// O(n) in spans, plus O(log n + depth) per asynchronous span, counter, instant and
// flow: a search for the span around it.
// kUnsupported: the input does not say what recording it cost; the message says
// why.
[[nodiscard]] Result<SpanOverheads> MeasureOverhead(const Trace& trace);

}  // namespace opscope
