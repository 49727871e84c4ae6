// What devices did, in the lists that are asked for: their times, their kernels, their copies, and how far that can be
// trusted. One call for several lists finds out once what they have in common, such as which call launched a work.
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

// As MeasureDevices, MeasureKernels, MeasureCopies and JudgeQuality give them; nullopt: it was not asked for.
struct DeviceReport {
  std::optional<std::vector<DeviceRow>> devices;
  std::optional<std::vector<DeviceKernelRow>> kernels;
  std::optional<std::vector<DeviceCopyRow>> copies;
  std::optional<Quality> quality;
};

struct DeviceReportOptions {
  bool devices = false, kernels = false, copies = false, quality = false;  // what is asked for
  const std::vector<uint8_t>* selected = nullptr;  // one entry per span (SpanFilter::Select): 1 counts. nullptr: all
  int64_t kernel_gap_ns = DeviceOptions().kernel_gap_ns;
  uint64_t small_bytes = DeviceCopyOptions().small_bytes;
};

[[nodiscard]] DeviceReport MeasureDeviceReport(const Trace& trace, const DeviceReportOptions& options);

}  // namespace opscope
