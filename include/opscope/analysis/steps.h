// Measures each training step and divides it into seven parts: computation, communication,
// copies, waiting for input, host code, other ranges, idle. docs/reference/analyses.md,
// "Steps", has the rules.
//
//   const StepReport report = MeasureSteps(trace);
//   for (const StepTimes& step : report.rows)
//     Print(step.number, step.duration_ns, step.idle_ns);
//
// Thread rule: pure function of an immutable Trace; the result is a plain value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// One step of one rank. Times in nanoseconds; the seven parts sum to duration_ns.
struct StepTimes {
  // Rank of the process; -1: unknown.
  int32_t rank = -1;
  // Number of the step, as the program counts.
  int64_t number = 0;
  // Name of its range.
  StringId name = StringId::kNone;
  // Begin and length of its range.
  int64_t start_ns = 0, duration_ns = 0;
  // A kernel ran that is not part of a collective.
  int64_t compute_ns = 0;
  // Else a kernel of a collective; on a rank without device work, a call of a process
  // group on any thread.
  int64_t communication_ns = 0;
  // Else a copy or a set.
  int64_t copy_ns = 0;
  // Else the thread of the step waited for input data.
  int64_t input_ns = 0;
  // Else an operator or another call was open on any thread.
  int64_t host_ns = 0;
  // Else any other span of a thread was open.
  int64_t other_ns = 0;
  // Else.
  int64_t idle_ns = 0;
};

// Statistics of the durations of steps, in nanoseconds. Percentiles are the smallest duration
// that so many of the steps do not exceed.
struct StepDurations {
  // Number of steps.
  uint64_t count = 0;
  // Mean, rounded down. nullopt, like the following: there are no steps.
  std::optional<int64_t> mean_ns;
  std::optional<int64_t> p50_ns, p99_ns, min_ns, max_ns;
  // Of the population, rounded.
  std::optional<int64_t> stddev_ns;
};

// The result.
struct StepReport {
  // By rank, then by start, then by number.
  std::vector<StepTimes> rows;
  StepDurations durations;
};

// selected: one entry per span (SpanFilter::Select), 1 counts; nullptr: all spans count. A step
// is left out if neither its range nor any span that counts in it is selected. O(spans), and
// O(n log n) in device work and in outermost host spans.
[[nodiscard]] StepReport MeasureSteps(const Trace& trace, const std::vector<uint8_t>* selected = nullptr);

// Of the durations of the rows, in any order. O(n).
[[nodiscard]] StepDurations MeasureStepDurations(const std::vector<StepTimes>& rows);

}  // namespace opscope
