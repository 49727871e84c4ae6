// Costs by device and stream, their kernels and their copies, as text, JSON and CSV.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opscope/analysis/device_copies.h"
#include "opscope/analysis/device_kernels.h"
#include "opscope/analysis/device_report.h"
#include "opscope/analysis/devices.h"
#include "opscope/report/rows.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// A line per device and stream; "" when the input has no work of devices. kInvalidArgument: options.sort is no key.
[[nodiscard]] Result<std::string> FormatDeviceTable(const Trace& trace, const std::vector<DeviceRow>& devices,
                                                    const RowOptions& options = {});
[[nodiscard]] Result<std::string> DevicesCsv(const Trace& trace, const std::vector<DeviceRow>& devices,
                                             const RowOptions& options = {});
// A line per kernel, or per kind of copy; else likewise.
[[nodiscard]] Result<std::string> FormatKernelTable(const Trace& trace, const std::vector<DeviceKernelRow>& kernels,
                                                    const RowOptions& options = {});
[[nodiscard]] Result<std::string> KernelsCsv(const Trace& trace, const std::vector<DeviceKernelRow>& kernels,
                                             const RowOptions& options = {});
[[nodiscard]] Result<std::string> FormatCopyTable(const Trace& trace, const std::vector<DeviceCopyRow>& copies,
                                                  const RowOptions& options = {});
[[nodiscard]] Result<std::string> CopiesCsv(const Trace& trace, const std::vector<DeviceCopyRow>& copies,
                                            const RowOptions& options = {});

enum class DeviceList : uint8_t { kDevices, kKernels, kCopies };
// "opscope.devices/1": what the report has; options.limit holds for each list, options.sort for `sorted`.
[[nodiscard]] Result<std::string> DevicesJson(const Trace& trace, const DeviceReport& report,
                                              const RowOptions& options = {}, DeviceList sorted = DeviceList::kDevices);

}  // namespace opscope
