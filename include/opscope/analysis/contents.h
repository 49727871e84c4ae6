// Lists the threads and steps of a trace: the values that `--where thread`,
// `--group-by thread` and `--steps` accept.
//
// Thread rule: pure functions of an immutable Trace; results refer to its strings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// One track.
struct ListedThread {
  // Its name as tables and flame graphs print it.
  std::string name;
  // Its number or text in the input.
  std::string tid;
  // Name of its process as tables print it.
  std::string process;
  // Number or text of the process in the input.
  std::string pid;
  // -1: unknown.
  int32_t rank = -1;
  // -1: not a track of a device.
  int32_t device = -1;
  TrackKind kind = TrackKind::kOther;
  // Number of its spans.
  uint64_t spans = 0;
  // First begin and last end, relative to the trace's epoch.
  int64_t start_ns = 0, end_ns = 0;
};
// Threads, device streams and other tracks with spans, in the order of the trace.
// O(spans).
[[nodiscard]] std::vector<ListedThread> ListThreads(const Trace& trace);

// All tracks, also those without spans, whose times are 0: one per row of trace.tracks().
[[nodiscard]] std::vector<ListedThread> ListTracks(const Trace& trace);

// One step of a training or inference loop.
struct ListedStep {
  int64_t number = 0;
  // As recorded: "ProfilerStep#3".
  std::string_view name;
  // -1: unknown.
  int32_t rank = -1;
  // Begin relative to the trace's epoch, and length.
  int64_t start_ns = 0, duration_ns = 0;
  // Number of spans of its rank that begin within it.
  uint64_t spans = 0;
};
// Ordered by rank and start. O(spans log steps).
[[nodiscard]] std::vector<ListedStep> ListSteps(const Trace& trace);
// From the first begin to the last end of all spans, relative to the trace's epoch.
struct TraceWindow {
  int64_t start_ns = 0, end_ns = 0;
};
// Zeros without spans. O(spans).
[[nodiscard]] TraceWindow WindowOfSpans(const Trace& trace);
// Begin of the first span, relative to the trace's epoch; 0 without spans. O(spans).
[[nodiscard]] int64_t FirstBegin(const Trace& trace);
// The numbers of all steps as ranges, "0..7, 9"; "" for a trace without steps.
[[nodiscard]] std::string StepRanges(const Trace& trace);

}  // namespace opscope
