// Measures how busy each device and each of its streams was, and why it was idle.
// docs/reference/devices.md has the rules.
//
//   for (const DeviceRow& row : MeasureDevices(trace))
//     if (row.stream == TrackId::kNone) Print(row.device, row.busy_ns, row.idle_ns());
//
// Thread rule: pure functions of an immutable Trace; results are plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// Relation of a row's device spans to the host calls that launched them.
// Nanoseconds; mean delays are rounded down.
struct LaunchDelays {
  // Spans whose launch is known.
  uint64_t launched = 0;
  // Those of them that took less time than the call.
  uint64_t shorter_than_launch = 0;
  // From the end of the call to the begin of its device span, at least 0. A
  // percentile is the smallest delay that so many of the spans do not exceed.
  struct Delay {
    int64_t mean_ns = 0, p50_ns = 0, p99_ns = 0, max_ns = 0;
  };
  // nullopt: no launch is known.
  std::optional<Delay> delay;
  // Largest number of spans that were launched and had not begun.
  int64_t queue_max = 0;
  // Mean of that number over the window of the device; 0 for a window of length 0.
  double queue_mean = 0;
};

// A device, or one of its streams. Times are unions in nanoseconds: an overlap
// counts once.
struct DeviceRow {
  // The process under which the input lists the device.
  ProcessId process = ProcessId::kNone;
  // Number of the device; -1: unknown.
  int32_t device = -1;
  // kNone: all streams of the device together.
  TrackId stream = TrackId::kNone;
  // Kernels, copies and sets.
  uint64_t spans = 0;
  // From the device's first begin to its last end, over all streams.
  int64_t window_ns = 0;
  // compute_ns + exposed_communication_ns + exposed_copy_ns.
  int64_t busy_ns = 0;
  // Union of the kernels; likewise copies and sets.
  int64_t kernel_ns = 0;
  int64_t copy_ns = 0;
  int64_t set_ns = 0;
  // Longest gap within the window.
  int64_t longest_idle_ns = 0;
  // A kernel ran that is not part of a collective.
  int64_t compute_ns = 0;
  // A kernel of a collective ran.
  int64_t communication_ns = 0;
  // Both at once.
  int64_t overlap_ns = 0;
  // Communication without computation.
  int64_t exposed_communication_ns = 0;
  // Copies and sets without any kernel.
  int64_t exposed_copy_ns = 0;
  // The parts of idle_ns(). Host wait: the host launched the span behind the gap
  // too late. Kernel wait: the span was launched in time and the gap is a short one
  // between two spans. Other wait: neither. Outside: before the row's first span
  // and after its last.
  int64_t host_wait_ns = 0;
  int64_t kernel_wait_ns = 0;
  int64_t other_wait_ns = 0;
  int64_t outside_ns = 0;
  // A kernel ran whose name says that it uses tensor cores.
  int64_t tensor_core_ns = 0;
  // The same, or a kernel of an operator that could use them.
  int64_t tensor_core_eligible_ns = 0;
  // How the host fed the device.
  LaunchDelays launches;
  // Time of the window without any span.
  int64_t idle_ns() const { return window_ns - busy_ns; }
  // busy_ns as a part of window_ns. nullopt: the window is 0.
  std::optional<double> busy_share() const {
    if (window_ns == 0) return std::nullopt;
    return static_cast<double>(busy_ns) / static_cast<double>(window_ns);
  }
};

// What to measure.
struct DeviceOptions {
  // One entry per span (SpanFilter::Select), 1 counts; nullptr: all spans count.
  const std::vector<uint8_t>* selected = nullptr;
  // Gaps shorter than this count as kernel wait (the default is HTA's).
  int64_t kernel_gap_ns = 30'000;
};

// One row per device, followed by one per stream with spans: by rank, number of the
// device, number of the stream. O(spans), and O(n log n) in device spans and the
// calls that launched them.
[[nodiscard]] std::vector<DeviceRow> MeasureDevices(const Trace& trace, const DeviceOptions& options = {});

}  // namespace opscope
