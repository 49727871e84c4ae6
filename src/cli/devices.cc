// `opscope devices`: how busy the devices and their streams were.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/devices.h"

#include "cli/row_verb.h"

namespace opscope {
namespace {

int PrintDevices(const Trace& trace, const std::string& file, const RowVerb& verb, Answers* answers) {
  const SelectedSpans selected(verb.filter, trace);
  const std::vector<DeviceRow> devices = MeasureDevices(trace, selected.get());
  std::string nothing;
  if (devices.empty()) {
    nothing = WhyNothing(trace, verb.filter);
    if (nothing.empty()) nothing = "there are no kernels, copies or sets of a device";
  }
  const auto table = [&](const RowOptions& rows) { return FormatDeviceTable(trace, devices, rows); };
  const auto csv = [&](const RowOptions& rows) { return DevicesCsv(trace, devices, rows); };
  const auto json = [&](const RowOptions& rows) { return DevicesJson(trace, devices, rows); };
  return PrintRows("devices", file, verb.common, verb.rows, {table, csv, json, nothing}, answers);
}

}  // namespace

Verb DevicesVerb() {
  return MakeRowVerb({.name = "devices",
                      .description = "how busy the devices and their streams were",
                      .sort_help = "a JSON field such as busy_ns (default: by device and stream)",
                      .print = PrintDevices});
}

}  // namespace opscope
