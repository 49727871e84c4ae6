// How busy each device and each of its streams was. docs/analyses.md, "Devices", has the rules.
//
// Thread rule: pure functions of an immutable Trace; results are plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// What the calls of the host that launched works tell of a row's works. All in nanoseconds, means rounded down.
struct LaunchDelays {
  uint64_t launched = 0;             // works whose launch is known
  uint64_t shorter_than_launch = 0;  // of them, those that took less time than the call
  // From the end of the call to the begin of its work, at least 0. The smallest delays that half, 99 of 100, of the
  // works do not exceed.
  struct Delay {
    int64_t mean_ns = 0, p50_ns = 0, p99_ns = 0, max_ns = 0;
  };
  std::optional<Delay> delay;  // nullopt: nothing was launched
  int64_t queue_max = 0;       // works that were called for and had not begun, at the moment when they were most
  int64_t queue_mean = 0;      // the same over the window of the device, rounded down
};

// Times are unions: where two overlap, the time counts once.
struct DeviceRow {
  ProcessId process = ProcessId::kNone;  // the device's, as the input has it
  int32_t device = -1;
  TrackId stream = TrackId::kNone;  // kNone: all streams of the device together
  uint64_t spans = 0;               // kernels, copies and sets
  int64_t window_ns = 0;            // from the device's first begin to its last end, whichever the stream
  int64_t busy_ns = 0;              // compute_ns + exposed_communication_ns + exposed_copy_ns
  int64_t kernel_ns = 0;
  int64_t copy_ns = 0;
  int64_t set_ns = 0;
  int64_t longest_idle_ns = 0;  // within the window
  int64_t compute_ns = 0;       // in which a kernel ran that is none of a library of collectives
  int64_t communication_ns = 0;
  int64_t overlap_ns = 0;  // both at once
  int64_t exposed_communication_ns = 0;
  int64_t exposed_copy_ns = 0;  // copies and sets, and no kernel
  // Why it was idle: the work behind a gap was called for too late; it was there and the gap is a short one between two
  // works; neither; and before the row's first work and after its last. Their sum is idle_ns().
  int64_t host_wait_ns = 0;
  int64_t kernel_wait_ns = 0;
  int64_t other_wait_ns = 0;
  int64_t outside_ns = 0;
  // In which a kernel ran whose name says that it uses tensor cores; one that does, or that an operator launched that
  // could use them.
  int64_t tensor_core_ns = 0;
  int64_t tensor_core_eligible_ns = 0;
  LaunchDelays launches;
  int64_t idle_ns() const { return window_ns - busy_ns; }
};

struct DeviceOptions {
  const std::vector<uint8_t>* selected = nullptr;  // one entry per span (SpanFilter::Select): 1 counts. nullptr: all
  int64_t kernel_gap_ns = 30'000;  // gaps shorter than this are those between two kernels (HTA's default)
};

// A row per device, followed by one per stream that did something, in order of the tracks. O(n log n) in spans of
// devices and in calls that launched them.
[[nodiscard]] std::vector<DeviceRow> MeasureDevices(const Trace& trace, const DeviceOptions& options = {});

}  // namespace opscope
