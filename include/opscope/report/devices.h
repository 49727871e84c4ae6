// Costs by device and stream as text, JSON and CSV.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

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
// "opscope.devices/1".
[[nodiscard]] Result<std::string> DevicesJson(const Trace& trace, const std::vector<DeviceRow>& devices,
                                              const RowOptions& options = {});

}  // namespace opscope
