// Which threads and which steps a trace has: what --where thread, --group-by thread and --steps can be given.
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

struct ListedThread {
  std::string name;     // as tables and flame graphs call it
  std::string tid;      // its number or text in the input
  std::string process;  // as tables call it
  std::string pid;
  int32_t rank = -1;    // -1: not known
  int32_t device = -1;  // -1: none
  TrackKind kind = TrackKind::kOther;
  uint64_t spans = 0;
  int64_t start_ns = 0, end_ns = 0;  // first begin and last end
};
// Threads, streams of devices and other tracks with spans, in the order of the trace. O(spans).
[[nodiscard]] std::vector<ListedThread> ListThreads(const Trace& trace);

struct ListedStep {
  int64_t number = 0;
  std::string_view name;
  int32_t rank = -1;  // -1: not known
  int64_t start_ns = 0, duration_ns = 0;
  uint64_t spans = 0;  // that begin within its time, of its rank
};
// In the order of rank and start. O(spans log steps).
[[nodiscard]] std::vector<ListedStep> ListSteps(const Trace& trace);
// The numbers of all steps in ranges, "0..7, 9"; "" for a trace without steps.
[[nodiscard]] std::string StepRanges(const Trace& trace);

}  // namespace opscope
