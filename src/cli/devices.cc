// `opscope devices`: how busy the devices and their streams were.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/row_verb.h"
#include "opscope/analysis/device_report.h"

namespace opscope {
namespace {

struct DevicesOptions {
  std::string kernel_gap = "30us";
  uint64_t small_copy = DeviceCopyOptions().small_bytes;
  bool kernels = false, copies = false;
  int64_t kernel_gap_ns = 0;

  Status Read() {
    const std::optional<int64_t> gap = SpanFilter::NumberOf(FilterField::kDuration, kernel_gap);
    if (!gap || *gap < 0)
      return Error{ErrorCode::kInvalidArgument, "--kernel-gap: '" + kernel_gap + "' is no time; 30us, 1ms or 500 (ns)"};
    kernel_gap_ns = *gap;
    return {};
  }
  DeviceList list() const {
    return kernels ? DeviceList::kKernels : copies ? DeviceList::kCopies : DeviceList::kDevices;
  }
};

std::string WhyNoRows(const Trace& trace, const std::optional<SpanFilter>& filter, DeviceList list) {
  const std::string why = WhyNothing(trace, filter);
  if (!why.empty()) return why;
  switch (list) {
    case DeviceList::kKernels:
      return "there are no kernels of a device";
    case DeviceList::kCopies:
      return "there are no copies of a device";
    default:
      return "there are no kernels, copies or sets of a device";
  }
}

RowTexts TextsOf(const Trace& trace, const DeviceReport& report, DeviceList list) {
  RowTexts texts;
  switch (list) {
    case DeviceList::kKernels:
      texts.table = [&](const RowOptions& rows) { return FormatKernelTable(trace, *report.kernels, rows); };
      texts.csv = [&](const RowOptions& rows) { return KernelsCsv(trace, *report.kernels, rows); };
      break;
    case DeviceList::kCopies:
      texts.table = [&](const RowOptions& rows) { return FormatCopyTable(trace, *report.copies, rows); };
      texts.csv = [&](const RowOptions& rows) { return CopiesCsv(trace, *report.copies, rows); };
      break;
    default:
      texts.table = [&](const RowOptions& rows) { return FormatDeviceTable(trace, *report.devices, rows); };
      texts.csv = [&](const RowOptions& rows) { return DevicesCsv(trace, *report.devices, rows); };
  }
  texts.json = [&trace, &report, list](const RowOptions& rows) { return DevicesJson(trace, report, rows, list); };
  return texts;
}

int PrintDevices(const Trace& trace, const std::string& file, const RowVerb& verb, const DevicesOptions& options,
                 Answers* answers) {
  const SelectedSpans selected(verb.filter, trace);
  const DeviceList list = options.list();
  const bool all = verb.common.json;
  const DeviceReport report = MeasureDeviceReport(trace, {.devices = all || list == DeviceList::kDevices,
                                                          .kernels = all || list == DeviceList::kKernels,
                                                          .copies = all || list == DeviceList::kCopies,
                                                          .quality = all,
                                                          .selected = selected.get(),
                                                          .kernel_gap_ns = options.kernel_gap_ns,
                                                          .small_bytes = options.small_copy});
  RowTexts texts = TextsOf(trace, report, list);
  const bool has_rows = list == DeviceList::kKernels  ? !report.kernels->empty()
                        : list == DeviceList::kCopies ? !report.copies->empty()
                                                      : !report.devices->empty();
  if (!has_rows) texts.nothing = WhyNoRows(trace, verb.filter, list);
  return PrintRows("devices", file, verb.common, verb.rows, texts, answers);
}

}  // namespace

Verb DevicesVerb() {
  auto options = std::make_shared<DevicesOptions>();
  return MakeRowVerb(
      {.name = "devices",
       .description = "how busy the devices and their streams were, and why not; their kernels, their copies",
       .sort_help = "a JSON field such as busy_ns (default: by device and stream; kernels and copies by time)",
       .print = [options](const Trace& trace, const std::string& file, const RowVerb& verb,
                          Answers* answers) { return PrintDevices(trace, file, verb, *options, answers); },
       .more_options = {{.names = {"--kernels"},
                         .target = &options->kernels,
                         .description = "the kernels instead: which took most time, and whether by tensor cores"},
                        {.names = {"--copies"},
                         .target = &options->copies,
                         .description = "the copies instead: which are small, or waited for by the program",
                         .excludes = "--kernels"},
                        {.names = {"--small-copy"},
                         .target = &options->small_copy,
                         .description = "a copy of at most so many bytes is a small one"},
                        {.names = {"--kernel-gap"},
                         .target = &options->kernel_gap,
                         .description = "a device that is idle for less, with work called for, waits for its kernels"}},
       .check = [options] { return options->Read(); }});
}

}  // namespace opscope
