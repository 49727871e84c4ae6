// `opscope devices`: how busy the devices and their streams were.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/devices.h"

#include "cli/row_verb.h"
#include "cli/terminal.h"

namespace opscope {
namespace {

int PrintDevices(const Trace& trace, const RowVerb& verb) {
  const SelectedSpans selected(verb.filter, trace);
  const std::vector<DeviceRow> devices = MeasureDevices(trace, selected.get());
  if (devices.empty() && !verb.common.quiet) PrintError("there are no kernels, copies or sets of a device");
  const auto table = [&](const RowOptions& rows) { return FormatDeviceTable(trace, devices, rows); };
  const auto csv = [&](const RowOptions& rows) { return DevicesCsv(trace, devices, rows); };
  const auto json = [&](const RowOptions& rows) { return DevicesJson(trace, devices, rows); };
  return PrintRows("devices", verb.common, verb.rows, {table, csv, json});
}

}  // namespace

Verb DevicesVerb() {
  return MakeRowVerb({.name = "devices",
                      .description = "how busy the devices and their streams were",
                      .sort_help = "a JSON field such as busy_ns (default: by device and stream)",
                      .print = PrintDevices});
}

}  // namespace opscope
