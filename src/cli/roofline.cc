// `opscope roofline`: FLOPs, bytes and rates of operators by input shapes, against the peaks of the machine.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/roofline.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/result_verb.h"
#include "cli/terminal.h"

namespace opscope {
namespace {

struct RooflineVerbOptions {
  double peak_flops = 0, peak_bandwidth = 0;  // 0: not given
};

std::optional<double> IfGiven(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

// Why no FLOPs and bytes are known; "": some are.
std::string DescribeUnknownCosts(const RooflineReport& report) {
  if (report.has_shapes) {
    const bool is_known =
        std::any_of(report.rows.begin(), report.rows.end(), [](const RooflineRow& row) { return row.bytes > 0; });
    return is_known
               ? ""
               : "opscope has formulas for the operators of PyTorch and MegEngine, and the trace has none of these "
                 "with input shapes, so all FLOPs and bytes are unknown";
  }
  const bool has_shapes = std::any_of(report.rows.begin(), report.rows.end(), [](const RooflineRow& row) {
    return row.dtype.empty() && row.shapes.find_first_of("0123456789") != std::string::npos;
  });
  return has_shapes ? "the input shapes have no data types, as Paddle records them, so FLOPs and bytes are unknown; "
                      "opscope summary --style paddle counts the FLOPs of Paddle's operators"
                    : "the operators have no input shapes, so their FLOPs and bytes are unknown; record with "
                      "record_shapes=True";
}

VerbResult ComputeRoofline(std::span<const Trace> traces, const ResultVerb& verb, const RooflineVerbOptions& options) {
  const Trace& trace = traces[0];
  const SelectedSpans selected(verb.filter, trace);
  const RooflineReport report = MeasureRoofline(trace, {.selected = selected.get(),
                                                        .peak_flops = IfGiven(options.peak_flops),
                                                        .peak_bandwidth = IfGiven(options.peak_bandwidth)});
  VerbResult result = RooflineVerbResult(trace, report);
  if (report.rows.empty()) {
    result.why_empty = DescribeEmptySelection(trace, verb.filter);
    if (result.why_empty.empty()) result.why_empty = "there are no operators";
  } else if (const std::string why = DescribeUnknownCosts(report); !why.empty() && !verb.common.quiet) {
    PrintError(why);
  }
  return result;
}

}  // namespace

Verb RooflineVerb() {
  auto options = std::make_shared<RooflineVerbOptions>();
  return MakeResultVerb(
      {.name = "roofline",
       .description = "FLOPs, bytes and rates of operators by shape, against the peaks of the machine",
       .sort_help = "a JSON field such as flops, peak_share or calls (default time_ns)",
       .compute = [options](std::span<const Trace> traces,
                            const ResultVerb& verb) { return ComputeRoofline(traces, verb, *options); },
       .is_of_job = true,
       .more_options = {{.names = {"--peak-flops"},
                         .target = &options->peak_flops,
                         .description = "the machine's operations per second, such as 1.2e12, for all types",
                         .least = 1},
                        {.names = {"--peak-bandwidth"},
                         .target = &options->peak_bandwidth,
                         .description = "the bytes per second of its memory, such as 5e10",
                         .least = 1}},
       .span_use = [] { return SpanUse{.operators = true, .launches = true, .works = true}; }});
}

}  // namespace opscope
