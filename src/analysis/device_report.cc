// Runs several device analyses over one DeviceAnalysisState, so that names are classified and launching calls are found
// once: `opscope devices` with all its lists costs little more than the first of them.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/device_report.h"

#include "analysis/device_report.h"

namespace opscope {

DeviceReport MeasureDeviceReport(const Trace& trace, const DeviceReportOptions& options) {
  DeviceAnalysisState works(trace);
  DeviceReport report;
  if (options.devices)
    report.devices = MeasureDevices({.selected = options.selected, .kernel_gap_ns = options.kernel_gap_ns}, &works);
  if (options.kernels) report.kernels = MeasureKernels(options.selected, &works);
  if (options.copies)
    report.copies = MeasureCopies({.selected = options.selected, .small_bytes = options.small_bytes}, &works);
  if (options.quality) report.quality = JudgeQuality(&works);
  return report;
}

std::vector<DeviceRow> MeasureDevices(const Trace& trace, const DeviceOptions& options) {
  DeviceAnalysisState works(trace);
  return MeasureDevices(options, &works);
}

std::vector<DeviceKernelRow> MeasureKernels(const Trace& trace, const std::vector<uint8_t>* selected) {
  DeviceAnalysisState works(trace);
  return MeasureKernels(selected, &works);
}

std::vector<DeviceCopyRow> MeasureCopies(const Trace& trace, const DeviceCopyOptions& options) {
  DeviceAnalysisState works(trace);
  return MeasureCopies(options, &works);
}

Quality JudgeQuality(const Trace& trace) {
  DeviceAnalysisState works(trace);
  return JudgeQuality(&works);
}

}  // namespace opscope
