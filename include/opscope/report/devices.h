// Devices, their kernels and their copies as tables of results. docs/reference/results.md lists the columns.
//
//   const DeviceReport report = MeasureDeviceReport(trace, {.devices = true, .kernels = true});
//   Print(ResultText(DeviceVerbResult(trace, report), {.width = 120}));
//   WriteText("kernels.csv", KernelTable(trace, *report.kernels).Csv());
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "opscope/analysis/device_copies.h"
#include "opscope/analysis/device_kernels.h"
#include "opscope/analysis/device_report.h"
#include "opscope/analysis/devices.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

// The columns of each list, for help texts and references.
[[nodiscard]] const ResultDescription& DeviceResult();
[[nodiscard]] const ResultDescription& KernelResult();
[[nodiscard]] const ResultDescription& CopyResult();

// A row per device and stream; per kernel; per kind of copy. `trace`: the one that was measured.
[[nodiscard]] ResultTable DeviceTable(const Trace& trace, const std::vector<DeviceRow>& devices);
[[nodiscard]] ResultTable KernelTable(const Trace& trace, const std::vector<DeviceKernelRow>& kernels);
[[nodiscard]] ResultTable CopyTable(const Trace& trace, const std::vector<DeviceCopyRow>& copies);

// The lists that the report has, in the order devices, kernels, copies, and its quality. Text shows the first list.
// REQUIRES: the report has at least one list.
[[nodiscard]] VerbResult DeviceVerbResult(const Trace& trace, const DeviceReport& report);

}  // namespace opscope
