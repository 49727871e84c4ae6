// Everything about devices in one call: times, kernels, copies, and how far the
// answers can be trusted. The analyses share intermediate results, such as the
// launching call of each device span, so one call costs less than four.
//
//   const DeviceReport report = MeasureDeviceReport(trace, {.devices = true, .kernels = true});
//
// Thread rule: pure function of an immutable Trace; the result is a plain value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "opscope/analysis/device_copies.h"
#include "opscope/analysis/device_kernels.h"
#include "opscope/analysis/devices.h"
#include "opscope/analysis/quality.h"
#include "opscope/trace.h"

namespace opscope {

// Results of MeasureDevices, MeasureKernels, MeasureCopies and JudgeQuality.
// nullopt: not requested.
struct DeviceReport {
  // Times by device and stream.
  std::optional<std::vector<DeviceRow>> devices;
  // Kernels by name.
  std::optional<std::vector<DeviceKernelRow>> kernels;
  // Copies by kind and memories.
  std::optional<std::vector<DeviceCopyRow>> copies;
  // Trust in the answers.
  std::optional<Quality> quality;
};

// What to measure, and the options of each analysis.
struct DeviceReportOptions {
  // The requested results.
  bool devices = false, kernels = false, copies = false, quality = false;
  // One entry per span (SpanFilter::Select), 1 counts; nullptr: all spans count.
  const std::vector<uint8_t>* selected = nullptr;
  // As DeviceOptions::kernel_gap_ns.
  int64_t kernel_gap_ns = DeviceOptions().kernel_gap_ns;
  // As DeviceCopyOptions::small_bytes.
  uint64_t small_bytes = DeviceCopyOptions().small_bytes;
};

// O(spans), and O(n log n) in device spans and the calls that launched them.
[[nodiscard]] DeviceReport MeasureDeviceReport(const Trace& trace, const DeviceReportOptions& options);

}  // namespace opscope
