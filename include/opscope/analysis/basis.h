// Counts what an answer about a trace rests on: which spans were there and which counted, how
// far the clocks of host and devices may be apart, and what the recording cost. `--explain` of
// the command line prints it. docs/reference/analyses.md, "Basis of an answer", has the rules.
//
//   const AnswerBasis basis = MeasureBasis(trace);
//   if (basis.clock_error_ns > 1'000) Warn(basis.early_works);
//
// Thread rule: pure function of an immutable Trace; the result is a plain value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "opscope/analysis/span_use.h"
#include "opscope/trace.h"

namespace opscope {

struct AnswerBasis {
  // All spans but the asynchronous ones; the four following ones add up to it.
  uint64_t spans = 0;
  // Nested spans of threads, without those of steps and of the recording itself.
  uint64_t host_spans = 0;
  // Kernels, copies and sets on streams.
  uint64_t works = 0;
  // Spans of steps.
  uint64_t step_spans = 0;
  // Device annotations, synchronization of devices, profiler overhead, the recording itself.
  uint64_t other_spans = 0;
  // Asynchronous spans: no analysis counts them but the summary's own table.
  uint64_t async_spans = 0;
  // Spans that the condition leaves out; 0 without a condition.
  uint64_t left_out = 0;
  // Works with a launch, and those of them that begin before it.
  uint64_t launched_works = 0, early_works = 0;
  // The longest time by which a work begins before its launch: so far apart the clocks are at
  // least. nullopt: no launch is known. Nanoseconds.
  std::optional<int64_t> clock_error_ns;
  // Estimate of the time that recording took; nullopt: the input does not say. Nanoseconds.
  std::optional<int64_t> overhead_ns;
  // The first begin and the last end of all spans, in nanoseconds; both 0 without spans.
  int64_t start_ns = 0, end_ns = 0;
  // Sum of the windows of all ranks. overhead_ns is a part of it. Nanoseconds.
  int64_t recorded_ns = 0;
  // What the analysis used of the spans; nullopt: it is not described.
  std::optional<SpanUseCounts> use;

  // From the first begin to the last end, in nanoseconds.
  [[nodiscard]] int64_t window_ns() const;
  // Adds the basis of another rank of the same job. REQUIRES: its times are since the same moment. `use` and
  // `overhead_ns` become unknown if one of both does not have them.
  void Append(const AnswerBasis& more);
};

// selected: one entry per span (SpanFilter::Select), 1 counts; nullptr: all spans count.
// use: what the analysis reads; nullptr: not described.
// O(spans + n log n) in works and their launches.
[[nodiscard]] AnswerBasis MeasureBasis(const Trace& trace, const std::vector<uint8_t>* selected = nullptr,
                                       const SpanUse* use = nullptr);

}  // namespace opscope
