// `opscope devices`: how busy devices and their streams were and why they were idle, or with --kernels and --copies the
// list of kernels or copies. --json has all three lists.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/devices.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/job_verbs.h"
#include "cli/result_verb.h"
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
      return Error{ErrorCode::kInvalidArgument,
                   "--kernel-gap: '" + kernel_gap + "' is not a duration; 30us, 1ms or 500 (ns)"};
    kernel_gap_ns = *gap;
    return {};
  }
};

// Each list is computed and printed only if an option requests it; JSON has all.
VerbResult ComputeDevices(std::span<const Trace> traces, const ResultVerb& verb, const DevicesOptions& options) {
  const Trace& trace = traces[0];
  const SelectedSpans selected(verb.filter, trace);
  const bool all = verb.common.json, is_devices = !options.kernels && !options.copies;
  const DeviceReport report = MeasureDeviceReport(trace, {.devices = all || is_devices,
                                                          .kernels = all || options.kernels,
                                                          .copies = all || options.copies,
                                                          .quality = all,
                                                          .selected = selected.get(),
                                                          .kernel_gap_ns = options.kernel_gap_ns,
                                                          .small_bytes = options.small_copy});
  VerbResult result = DeviceVerbResult(trace, report);
  if (all && !is_devices) std::swap(result.tables[0], result.tables[options.kernels ? 1 : 2]);  // --sort orders it
  if (result.tables[0].size() > 0) return result;
  if (!verb.is_one_rank) result.why_empty = DescribeEmptySelection(trace, verb.filter);
  if (result.why_empty.empty()) {
    result.why_empty = options.kernels  ? "there are no kernels of a device"
                       : options.copies ? "there are no copies of a device"
                                        : "there are no kernels, copies or sets of a device";
  }
  return result;
}

}  // namespace

Verb DevicesVerb(const CliHost& host) {
  auto options = std::make_shared<DevicesOptions>();
  return MakeResultVerb(
      {.name = "devices",
       .description = "how busy the devices and their streams were, and why not; their kernels, their copies",
       .sort_help = "a JSON field such as busy_ns (default: by device and stream; kernels and copies by time)",
       .compute = [options](std::span<const Trace> traces,
                            const ResultVerb& verb) { return ComputeDevices(traces, verb, *options); },
       .is_of_job = true,
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
       .check = [options] { return options->Read(); },
       .span_use = [] { return SpanUse{.launches = true, .works = true}; },
       .answer_job = AnswerByRanks(&DevicesByRank, host)});
}

}  // namespace opscope
