// Measures the kernels of devices by name: their time, their launch configuration,
// the operators that launched them, and whether they use tensor cores.
// docs/reference/devices.md has the rules.
//
//   for (const DeviceKernelRow& row : MeasureKernels(trace))
//     Print(trace.text(row.name), row.count, row.mean_ns(), row.grid);
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

// All kernels of one device and name. Times are sums of durations: concurrent
// kernels count each.
struct DeviceKernelRow {
  // The process under which the input lists the device.
  ProcessId process = ProcessId::kNone;
  // Number of the device; -1: unknown.
  int32_t device = -1;
  // Name of the kernel.
  StringId name = StringId::kNone;
  // Number of kernels, at least 1.
  uint64_t count = 0;
  // Sum, shortest and longest of the durations.
  int64_t total_ns = 0, min_ns = 0, max_ns = 0;
  // Sum over all kernels of the device: the base of shares.
  int64_t device_total_ns = 0;
  // True if the name says so.
  bool uses_tensor_cores = false;
  // Kernels launched by an operator that can use tensor cores.
  uint64_t eligible = 0;
  // The most frequent launch configuration, "8x16x5"; of equally frequent ones the
  // smallest. "": unknown.
  std::string grid, block;
  // Launches with that grid and block.
  uint64_t alike = 0;
  // Mean of the known occupancies, in percent; nullopt: none is known.
  std::optional<double> occupancy;
  // The operator that launched most of the time; kNone: no operator is known.
  StringId operator_name = StringId::kNone;
  // Number of distinct operator names that launched the kernel.
  uint64_t operators = 0;

  // Mean duration, rounded down.
  int64_t mean_ns() const { return count == 0 ? 0 : total_ns / static_cast<int64_t>(count); }
};

// One row per device and name: longest total first, then by device and name.
// selected: one entry per span (SpanFilter::Select), 1 counts; nullptr: all. O(n
// log n) in device spans, and one byte per string of the Trace.
[[nodiscard]] std::vector<DeviceKernelRow> MeasureKernels(const Trace& trace,
                                                          const std::vector<uint8_t>* selected = nullptr);

}  // namespace opscope
