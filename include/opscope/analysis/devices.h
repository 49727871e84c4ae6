// How busy each device and each of its streams was. docs/analyses.md, "Devices", has the rules.
//
// Thread rule: pure functions of an immutable Trace; results are plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// Times are unions: where two overlap, the time counts once.
struct DeviceRow {
  ProcessId process = ProcessId::kNone;  // the device's, as the input has it
  int32_t device = -1;
  TrackId stream = TrackId::kNone;  // kNone: all streams of the device together
  uint64_t spans = 0;               // kernels, copies and sets
  int64_t window_ns = 0;            // from the device's first begin to its last end, whichever the stream
  int64_t busy_ns = 0;
  int64_t kernel_ns = 0;
  int64_t copy_ns = 0;
  int64_t set_ns = 0;
  int64_t longest_idle_ns = 0;  // within the window
  int64_t idle_ns() const { return window_ns - busy_ns; }
};

// A row per device, followed by one per stream that did something, in order of the tracks. `selected`: one entry per
// span (SpanFilter::Select); only spans with 1 count. nullptr: all. O(n log n) in spans of devices.
[[nodiscard]] std::vector<DeviceRow> MeasureDevices(const Trace& trace, const std::vector<uint8_t>* selected = nullptr);

}  // namespace opscope
