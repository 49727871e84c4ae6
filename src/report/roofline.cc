// Operators against the roofline: the columns of `opscope roofline`.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/roofline.h"

#include <cmath>
#include <optional>
#include <span>
#include <string>

#include "report/human_units.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

constexpr double kTera = 1e12, kGiga = 1e9;

std::optional<double> InUnits(const std::optional<double>& value, double unit) {
  return value ? std::optional(*value / unit) : std::nullopt;
}

// Floating-point peaks as numbers per second.
std::optional<int64_t> AsNumber(const std::optional<double>& value) {
  return value && *value < 9e18 ? std::optional(std::llround(*value)) : std::nullopt;
}

std::string_view BoundText(RooflineBound bound) {
  return bound == RooflineBound::kCompute ? "compute" : bound == RooflineBound::kMemory ? "memory" : "";
}

constexpr ResultField<RooflineRow> kRooflineFields[] = {
    {{"name", "Operator", kText, "Name of the operator."},
     [](const Trace& trace, const RooflineRow& r) { return trace.text(r.name); }},
    {{"shape", "Shapes", kText, "Shapes of its inputs; `[]` if they were not recorded."},
     [](const RooflineRow& r) { return std::string_view(r.shapes); }},
    {{"dtype", "Type", kOptionalText, "Type of the first floating-point input, else of the first one."},
     [](const RooflineRow& r) { return std::string_view(r.dtype); }},
    {{"calls", "Calls", kNumber, "Number of calls."}, [](const RooflineRow& r) { return r.calls; }},
    {{"time_ns", "Time", kTime, "Time of the device where the trace has work of one, else of the host."},
     [](const RooflineRow& r) { return r.time_ns; }},
    {{"host_ns", "", kTime, "Time of the host, without operators that have a row of their own."},
     [](const RooflineRow& r) { return r.host_ns; }},
    {{"flops", "FLOPs", kAmount, "Operations of all calls."}, [](const RooflineRow& r) { return r.flops; }},
    {{"bytes", "Bytes", kBytes, "Bytes that all calls read and write at least."},
     [](const RooflineRow& r) { return r.bytes; }},
    {{"tflops_per_s", "TFLOP/s", kDouble, "10^12 operations per second.", kIfKnown},
     [](const RooflineRow& r) { return InUnits(r.flops_per_s(), kTera); }},
    {{"gb_per_s", "GB/s", kDouble, "10^9 bytes per second.", kIfKnown},
     [](const RooflineRow& r) { return InUnits(r.bytes_per_s(), kGiga); }},
    {{"intensity", "FLOPs/B", kDouble, "Arithmetic intensity: operations per byte.", kIfKnown},
     [](const RooflineRow& r) { return r.intensity(); }},
    {{"bound", "Bound", kOptionalText, "`compute` or `memory`: which peak is the lower limit."},
     [](const RooflineRow& r) { return BoundText(r.bound); }},
    {{"peak_share", "% of peak", kShare, "Rate as a part of the peak that `bound` names.", kIfKnown},
     [](const RooflineRow& r) { return r.peak_share; }},
    {{"peak_flops", "", kAmount, "Operations per second that the machine reaches with this type."},
     [](const RooflineRow& r) { return AsNumber(r.peak_flops); }},
};

constexpr ResultField<RooflineReport> kMachineFields[] = {
    {{"device", "Device", kText,
      "Name of the device whose peaks are in the table of devices; empty if the table has no such device."},
     [](const RooflineReport& r) { return std::string_view(r.device); }},
    {{"peak_bandwidth", "Bandwidth", kAmount, "Bytes per second that its memory reaches."},
     [](const RooflineReport& r) { return AsNumber(r.peak_bandwidth); }},
    {{"time_ns", "Time", kTime, "Time of all rows."}, [](const RooflineReport& r) { return r.time_ns; }},
    {{"known_ns", "Known", kTime, "Time of the rows with FLOPs and bytes."},
     [](const RooflineReport& r) { return r.known_ns; }},
    {{"known_share", "Known %", kShare, "`known_ns` as a part of `time_ns`."},
     [](const RooflineReport& r) { return ShareOf(r.known_ns, r.time_ns); }},
};

}  // namespace

const ResultDescription& RooflineResult() {
  static const ResultDescription description = DescribeResult<RooflineRow>(
      "roofline", "rows", "An operator with the same input shapes and type: its work, its rates, its limit.",
      kRooflineFields);
  return description;
}

const ResultDescription& RooflineMachineResult() {
  static const ResultDescription description = DescribeResult<RooflineReport>(
      "roofline", "machine", "The machine, and how much of the time has FLOPs and bytes.", kMachineFields, true);
  return description;
}

ResultTable RooflineTable(const Trace& trace, const RooflineReport& report) {
  return MakeResultTable<RooflineRow>(RooflineResult(), kRooflineFields, trace, report.rows);
}

ResultTable RooflineMachineTable(const Trace& trace, const RooflineReport& report) {
  return MakeResultTable<RooflineReport>(RooflineMachineResult(), kMachineFields, trace, std::span(&report, 1));
}

VerbResult RooflineVerbResult(const Trace& trace, const RooflineReport& report) {
  VerbResult result;
  result.tables = {RooflineTable(trace, report), RooflineMachineTable(trace, report)};
  if (const std::optional<double> share = ShareOf(report.known_ns, report.time_ns)) {
    result.note = FixedText(100 * *share, 1) + " % of this time has FLOPs and bytes";
    if (!report.device.empty()) result.note += "; peaks of " + report.device;
    result.note += "\n";
  }
  return result;
}

}  // namespace opscope
