// The kernels of devices by name: which took most of the time, how they were launched, by which operators, and whether
// they use tensor cores. docs/analyses.md, "Kernels", has the rules.
//
// Thread rule: pure functions of an immutable Trace; results are plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// Times are sums of durations: kernels that run beside each other count each.
struct DeviceKernelRow {
  ProcessId process = ProcessId::kNone;  // the device's, as the input has it
  int32_t device = -1;
  StringId name = StringId::kNone;
  uint64_t count = 0;
  int64_t total_ns = 0, min_ns = 0, max_ns = 0;
  int64_t device_total_ns = 0;     // of all kernels of the device
  bool uses_tensor_cores = false;  // so its name says
  uint64_t eligible = 0;           // of them, launched by an operator that can use tensor cores
  // Of the launch that is there most often, of equally many the smaller one; "8x16x5", "": not told.
  std::string grid, block;
  uint64_t alike = 0;               // launches with that grid and block
  std::optional<double> occupancy;  // the mean of those that tell it, in percent
  // The operator that launched most of its time; kNone: no operator is known.
  StringId operator_name = StringId::kNone;
  uint64_t operators = 0;  // names of operators that launched it

  int64_t mean_ns() const { return count == 0 ? 0 : total_ns / static_cast<int64_t>(count); }
};

// A row per device and name, by total time, falling; then by device and name. selected: one entry per span
// (SpanFilter::Select), 1 counts; nullptr: all. O(n log n) in kernels.
[[nodiscard]] std::vector<DeviceKernelRow> MeasureKernels(const Trace& trace,
                                                          const std::vector<uint8_t>* selected = nullptr);

}  // namespace opscope
