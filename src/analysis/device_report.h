// State that all analyses of devices share: the classification of device spans, and the calls that launched them.
//
// Thread rule: one thread at a time for one DeviceAnalysisState.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/device_work.h"
#include "opscope/analysis/device_report.h"
#include "opscope/trace.h"

namespace opscope {

struct DeviceAnalysisState {
  explicit DeviceAnalysisState(const Trace& of) : trace(of), finder(of), calls(of) {}

  const Trace& trace;
  WorkFinder finder;
  LaunchCalls calls;
};

// As the public functions of these names, over shared state.
std::vector<DeviceRow> MeasureDevices(const DeviceOptions& options, DeviceAnalysisState* works);
std::vector<DeviceKernelRow> MeasureKernels(const std::vector<uint8_t>* selected, DeviceAnalysisState* works);
std::vector<DeviceCopyRow> MeasureCopies(const DeviceCopyOptions& options, DeviceAnalysisState* works);
Quality JudgeQuality(DeviceAnalysisState* works);

}  // namespace opscope
