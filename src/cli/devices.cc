// `opscope devices`: how busy the devices and their streams were.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/devices.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/row_verb.h"

namespace opscope {
namespace {

struct GapOption {
  std::string text = "30us";
  int64_t ns = 0;

  Status Read() {
    const std::optional<int64_t> gap = SpanFilter::NumberOf(FilterField::kDuration, text);
    if (!gap || *gap < 0)
      return Error{ErrorCode::kInvalidArgument, "--kernel-gap: '" + text + "' is no time; 30us, 1ms or 500 (ns)"};
    ns = *gap;
    return {};
  }
};

int PrintDevices(const Trace& trace, const std::string& file, const RowVerb& verb, int64_t kernel_gap_ns,
                 Answers* answers) {
  const SelectedSpans selected(verb.filter, trace);
  const std::vector<DeviceRow> devices =
      MeasureDevices(trace, {.selected = selected.get(), .kernel_gap_ns = kernel_gap_ns});
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
  auto gap = std::make_shared<GapOption>();
  return MakeRowVerb(
      {.name = "devices",
       .description = "how busy the devices and their streams were, and why not",
       .sort_help = "a JSON field such as busy_ns (default: by device and stream)",
       .print = [gap](const Trace& trace, const std::string& file, const RowVerb& verb,
                      Answers* answers) { return PrintDevices(trace, file, verb, gap->ns, answers); },
       .more_options = {{.names = {"--kernel-gap"},
                         .target = &gap->text,
                         .description = "a device that is idle for less, with work called for, waits for its kernels"}},
       .check = [gap] { return gap->Read(); }});
}

}  // namespace opscope
