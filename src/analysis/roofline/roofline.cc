// Groups the operators that have a row by name, input shapes and type, and compares their rates with the peaks. Calls
// are added up by name and argument list first, which are two integers, so that a formula is evaluated and a text made
// once per distinct pair and never per call.
//
// Example with peaks of 100 FLOPs/ns and 10 bytes/ns, whose ridge is at 10 FLOPs per byte: mm with 8000 FLOPs and 400
// bytes in 100 ns has 20 FLOPs per byte, is bound by computation, and reaches 80 of 100 FLOPs/ns, 0.8 of the peak.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/roofline.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "analysis/roofline/operator_calls.h"
#include "analysis/roofline/trace_devices.h"
#include "base/saturating.h"
#include "opscope/torch/function_events.h"

namespace opscope {
namespace {

std::optional<double> Rate(const std::optional<int64_t>& amount, int64_t time_ns) {
  if (!amount || time_ns <= 0) return std::nullopt;
  return static_cast<double>(*amount) / (static_cast<double>(time_ns) / 1e9);
}

std::string_view TypeOfRow(const CallArguments& call) {
  std::string_view type;
  const auto look = [&](const Argument& tensor) {
    const std::string_view own = call.Type(tensor);
    if (type.empty() || (CategoryOfType(type) < TypeCategory::kFloat && CategoryOfType(own) >= TypeCategory::kFloat))
      type = own;
  };
  for (const Argument& argument : call.list) {
    if (argument.kind == ArgumentKind::kTensor) look(argument);
    for (const Argument& tensor : argument.tensors)
      look(tensor);
  }
  return type;
}

// The cost of one call of the group.
OperatorCost CostOfGroup(const CallGroup& group, const Trace& trace, const CallArguments& call, OperatorNames* names) {
  const StringId name = trace.spans().name[group.span];
  if (group.role == OperatorRole::kFormula) return CostOf(trace.text(name), names->Of(name), call);
  // One that should only call others, but did work on the device itself.
  if (group.role == OperatorRole::kUnknown || group.device_ns > 0) return {};
  return {Amount(0), Amount(0)};
}

Amount AmountOf(const std::optional<int64_t>& value) {
  return value ? Amount(*value) : Amount();
}

struct RowKey {
  StringId name;
  std::string shapes, dtype;
  auto operator<=>(const RowKey&) const = default;
};

// Peaks by type; those that the caller gives hold for all.
class Peaks {
 public:
  Peaks(const Trace& trace, const RooflineOptions& options) : options_(options) {
    if (options.peak_flops && options.peak_bandwidth) return;
    device_ = DeviceNameOf(trace);
    known_ = PeaksOfDevice(device_);
  }

  std::string device() const { return known_ == nullptr ? std::string() : device_; }
  std::optional<double> Bandwidth() const {
    if (options_.peak_bandwidth) return options_.peak_bandwidth;
    return known_ == nullptr ? std::nullopt : std::optional(known_->bandwidth);
  }
  std::optional<double> Flops(std::string_view dtype, bool uses_tf32) const {
    if (options_.peak_flops) return options_.peak_flops;
    if (known_ == nullptr) return std::nullopt;
    double peak = 0;
    if (dtype == "double") peak = known_->float64;
    if (dtype == "float" || dtype == "Float32") peak = uses_tf32 ? known_->tensor_float32 : known_->float32;
    if (dtype == "c10::Half" || dtype == "Float16") peak = known_->float16;
    if (dtype == "c10::BFloat16" || dtype == "BFloat16") peak = known_->bfloat16;
    if (dtype.starts_with("c10::Float8_e")) peak = known_->float8;
    return peak > 0 ? std::optional(peak) : std::nullopt;
  }

 private:
  const RooflineOptions& options_;
  std::string device_;
  const DevicePeaks* known_ = nullptr;
};

void CompareWithPeaks(const Peaks& peaks, RooflineRow* row) {
  row->peak_flops = peaks.Flops(row->dtype, row->uses_tf32);
  const std::optional<double> bandwidth = peaks.Bandwidth();
  if (!row->flops || !row->bytes || !bandwidth || (*row->flops == 0 && *row->bytes == 0)) return;
  // Without FLOPs the limit is the memory, whatever the peak of computation is.
  if (*row->flops > 0 && !row->peak_flops) return;
  const double peak = row->peak_flops.value_or(0);
  const bool is_compute =
      *row->flops > 0 && static_cast<double>(*row->flops) / peak >= static_cast<double>(*row->bytes) / *bandwidth;
  row->bound = is_compute ? RooflineBound::kCompute : RooflineBound::kMemory;
  const std::optional<double> rate = is_compute ? row->flops_per_s() : row->bytes_per_s();
  if (rate) row->peak_share = *rate / (is_compute ? peak : *bandwidth);
}

}  // namespace

std::optional<double> RooflineRow::flops_per_s() const {
  return Rate(flops, time_ns);
}

std::optional<double> RooflineRow::bytes_per_s() const {
  return Rate(bytes, time_ns);
}

std::optional<double> RooflineRow::intensity() const {
  if (!flops || !bytes || *bytes == 0) return std::nullopt;
  return static_cast<double>(*flops) / static_cast<double>(*bytes);
}

RooflineReport MeasureRoofline(const Trace& trace, const RooflineOptions& options) {
  OperatorNames names(trace);
  const OperatorCalls calls = GroupOperatorCalls(trace, options.selected, &names);
  const Peaks peaks(trace, options);
  RooflineReport report{.rows = {}, .device = peaks.device(), .peak_bandwidth = peaks.Bandwidth()};
  const SpanColumns& spans = trace.spans();
  std::map<RowKey, size_t> numbers;
  for (const CallGroup& group : calls.groups) {
    const StringId name = spans.name[group.span];
    const ArgsId args = spans.args[group.span];
    const CallArguments call{trace, trace.arguments(args), trace.text(spans.extra[group.span])};
    RowKey key{name, InputShapesText(trace, args), std::string(TypeOfRow(call))};
    report.has_shapes |= !key.dtype.empty();
    const auto [found, is_new] = numbers.try_emplace(key, report.rows.size());
    if (is_new) {
      RooflineRow& added = report.rows.emplace_back();
      added.name = name, added.shapes = key.shapes, added.dtype = key.dtype;
      added.flops = added.bytes = 0;
    }
    RooflineRow& row = report.rows[found->second];
    const Amount count(static_cast<int64_t>(group.calls));
    const OperatorCost cost = CostOfGroup(group, trace, call, &names);
    row.calls += group.calls;
    row.uses_tf32 |= group.uses_tf32;
    row.host_ns = SaturatingAdd(row.host_ns, group.host_ns);
    row.time_ns = SaturatingAdd(row.time_ns, calls.has_device_work ? group.device_ns : group.host_ns);
    row.flops = (AmountOf(row.flops) + cost.flops * count).value();
    row.bytes = (AmountOf(row.bytes) + cost.bytes * count).value();
  }
  for (RooflineRow& row : report.rows) {
    CompareWithPeaks(peaks, &row);
    report.time_ns = SaturatingAdd(report.time_ns, row.time_ns);
    if (row.flops && row.bytes) report.known_ns = SaturatingAdd(report.known_ns, row.time_ns);
  }
  std::sort(report.rows.begin(), report.rows.end(), [&](const RooflineRow& a, const RooflineRow& b) {
    if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
    return std::forward_as_tuple(trace.text(a.name), a.shapes, a.dtype) <
           std::forward_as_tuple(trace.text(b.name), b.shapes, b.dtype);
  });
  return report;
}

}  // namespace opscope
