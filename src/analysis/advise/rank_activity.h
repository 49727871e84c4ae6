// What one rank did, as far as advice needs it: its steps, its device work, and the host spans whose names say that the
// program waits, compiles, allocates or reads input.
//
// Thread rule: one thread at a time; immutable once collected.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/intervals.h"
#include "analysis/launch_delays.h"
#include "analysis/steps_of_ranks.h"
#include "opscope/trace.h"

namespace opscope::advise {

struct RankStep {
  int64_t number = 0;
  Interval time;
  TrackId track = TrackId::kNone;  // kNone: the trace has no steps, and this is its window
};

struct NamedSpan {
  uint32_t span = 0;
  Interval time;
};

// The union of their times. O(n log n).
[[nodiscard]] IntervalSet TimesOf(const std::vector<NamedSpan>& spans);

// Skips spans inside others, when both have been collected: the call that aten::item waits in.
class OutermostSpans {
 public:
  explicit OutermostSpans(const Trace& trace) : trace_(trace) {}
  // False if the span lies inside one that was added before. REQUIRES: spans of a track come one after the other, by
  // begin.
  bool Add(const NamedSpan& span) {
    const TrackId track = trace_.spans().track[span.span];
    if (track == track_ && span.time.begin < end_) return false;
    track_ = track;
    end_ = span.time.end;
    return true;
  }

 private:
  const Trace& trace_;
  TrackId track_ = TrackId::kNone;
  int64_t end_ = 0;
};

// Pointwise kernels or operators next to each other within one step.
struct PointwiseRun {
  size_t step = 0;         // index into RankActivity::steps
  uint32_t first = 0;      // its first span
  Interval time;           // from the first begin to the last end
  int64_t total_ns = 0;    // sum of the durations
  int64_t longest_ns = 0;  // of one
  uint64_t length = 0;     // number of kernels or operators

  int64_t saving_ns() const { return total_ns - longest_ns; }
};

struct RankActivity {
  int32_t rank = -1;
  std::vector<RankStep> steps;      // by begin; the window of the trace if it has no steps
  size_t first_step = 0;            // number of steps[0] among the steps of all ranks
  StepTimeline timeline;            // of steps
  std::vector<LaunchedWork> works;  // of all devices, by begin
  IntervalSet kernels, compute, communication, all_works;
  std::vector<NamedSpan> host_device_copies;
  // Host spans.
  std::vector<NamedSpan> waits;   // blocking calls, and operators that wait for a value
  std::vector<NamedSpan> inputs;  // on the tracks of steps
  std::vector<NamedSpan> recompiles;
  std::vector<NamedSpan> device_allocations;  // calls of the driver's allocator
  std::vector<PointwiseRun> runs;             // of 3 or more; of operators if the rank has no device work
  std::vector<uint32_t> threads;              // tracks with host spans

  // The step that contains the time; of several, the one that began last. O(log steps).
  std::optional<size_t> StepAt(int64_t time) const;
};

// Whether the selection has the range of a step. A condition such as "kind = kernel" has none; then all steps count.
[[nodiscard]] bool HasSelectedStep(const Trace& trace, const std::vector<uint8_t>* selected);
// All ranks of a trace by their number, each with at least one step. selected: as AdviceOptions. O(spans + n log n) in
// works.
[[nodiscard]] std::vector<RankActivity> CollectActivity(const Trace& trace, const std::vector<uint8_t>* selected);

}  // namespace opscope::advise
