// Counts which spans of a trace one analysis used, and why it left out the others. An analysis is
// described by the classes of spans that it reads. docs/reference/analyses.md, "Basis of an
// answer", lists them for each analysis.
//
//   const SpanUse of_steps{.host_spans = true, .works = true, .step_spans = true,
//                          .place = SpanUsePlace::kInSteps};
//   const SpanUseCounts counts = CountUsedSpans(trace, nullptr, of_steps);
//   Print(counts.used, counts.outside_steps);
//
// Thread rule: pure function of an immutable Trace; the result is a plain value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// Where a span must lie to be used.
enum class SpanUsePlace : uint8_t {
  kAnywhere,
  // In a step of its rank, at least with a part.
  kInSteps,
  // Likewise, but anywhere if the trace has no steps.
  kInStepsIfAny,
};

// What an analysis reads.
struct SpanUse {
  // Nested spans of threads, without those of steps and of the recording itself.
  bool host_spans = false;
  // Those among them that are operators of a framework.
  bool operators = false;
  // Those among them that launched a work.
  bool launches = false;
  // Kernels, copies and sets on streams.
  bool works = false;
  // Synchronization of devices, on streams.
  bool device_waits = false;
  // Spans of steps.
  bool step_spans = false;
  // All spans of no class above, but the asynchronous ones.
  bool other_spans = false;
  SpanUsePlace place = SpanUsePlace::kAnywhere;
};

// Every span counts once, for the first that holds: left out by the condition, of a class that
// the analysis does not read, outside of the steps, used.
struct SpanUseCounts {
  uint64_t used = 0;
  uint64_t left_out = 0;
  uint64_t unread = 0;
  uint64_t outside_steps = 0;
};

// selected: one entry per span (SpanFilter::Select), 1 counts; nullptr: all spans count.
// O(spans log steps + n log n) in works and their launches.
[[nodiscard]] SpanUseCounts CountUsedSpans(const Trace& trace, const std::vector<uint8_t>* selected,
                                           const SpanUse& use);

}  // namespace opscope
