// A limit is one comparison. What needs care is what is unknown: a gate that passes because the trace has no steps
// would hide that the job did not run, so an unknown value crosses its limit.
//
//   step_p50_ns is 1,060,000, the baseline's 1,000,000: max_increase = "5%" compares with 1,050,000, which is crossed
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/check.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace opscope {
namespace {

constexpr std::string_view kCheckMetricNames[] = {
    "step_mean_ns",
    "step_p50_ns",
    "step_p99_ns",
    "step_max_ns",
    "device_busy_share",
    "device_idle_ns",
    "exposed_communication_ns",
    "peak_memory_bytes",
    "critical_path_ns",
    "op_total_ns",
    "op_self_ns",
    "op_count",
    "spans",
    "problems",
    "findings",
};
static_assert(std::size(kCheckMetricNames) == static_cast<size_t>(CheckMetric::kFindings) + 1);

// Whole numbers have all digits: 1060000, never 1.06e+06.
std::string NumberInSentence(double value) {
  char text[400];
  const bool is_whole = value == std::floor(value) && std::abs(value) < 1e15;
  const auto end = is_whole ? std::to_chars(text, text + sizeof(text), static_cast<int64_t>(value))
                            : std::to_chars(text, text + sizeof(text), value);
  return {text, end.ptr};
}

bool IsLeast(LimitKind kind) {
  return kind == LimitKind::kMin || kind == LimitKind::kMaxDecrease;
}

std::optional<double> BoundOf(const CheckLimit& limit, const std::optional<double>& baseline) {
  if (!IsRelative(limit.kind)) return limit.number;
  if (!baseline) return std::nullopt;
  const long double base = *baseline, number = limit.number, change = limit.is_percent ? base * number / 100 : number;
  return static_cast<double>(limit.kind == LimitKind::kMaxIncrease ? base + change : base - change);
}

std::string MessageOf(const CheckRow& row) {
  const CheckLimit& limit = row.limit;
  std::string text(CheckMetricNames()[static_cast<size_t>(limit.metric)]);
  if (IsOpMetric(limit.metric)) text += " of " + limit.name;
  if (!row.value) return text + " is unknown: the trace does not have it";
  text += " is " + NumberInSentence(*row.value);
  if (!row.bound) return text + "; the baseline does not have it";
  const bool is_least = IsLeast(limit.kind);
  text += row.passed ? (is_least ? ", at least " : ", at most ") : (is_least ? ", less than " : ", more than ");
  text += NumberInSentence(*row.bound);
  if (!IsRelative(limit.kind) || !row.baseline) return text;
  text += " (baseline " + NumberInSentence(*row.baseline) + (is_least ? " - " : " + ") + NumberInSentence(limit.number);
  return text + (limit.is_percent ? "%)" : ")");
}

}  // namespace

std::span<const std::string_view> CheckMetricNames() {
  return kCheckMetricNames;
}

std::optional<CheckMetric> CheckMetricFromName(std::string_view name) {
  const auto* const found = std::find(std::begin(kCheckMetricNames), std::end(kCheckMetricNames), name);
  if (found == std::end(kCheckMetricNames)) return std::nullopt;
  return static_cast<CheckMetric>(found - std::begin(kCheckMetricNames));
}

bool IsOpMetric(CheckMetric metric) {
  return metric == CheckMetric::kOpTotalNs || metric == CheckMetric::kOpSelfNs || metric == CheckMetric::kOpCount;
}

std::string_view LimitKindName(LimitKind kind) {
  constexpr std::string_view kNames[] = {"min", "max", "max_increase", "max_decrease"};
  return kNames[static_cast<size_t>(kind)];
}

bool IsRelative(LimitKind kind) {
  return kind == LimitKind::kMaxIncrease || kind == LimitKind::kMaxDecrease;
}

std::vector<CheckRow> CheckTrace(const Trace& trace, const Trace* baseline, std::span<const CheckLimit> limits) {
  CheckMetrics metrics(limits);
  metrics.Add(trace);
  if (baseline == nullptr) return CheckLimits(metrics, nullptr, limits);
  CheckMetrics of_baseline = CheckMetrics::OfBaseline(limits);
  of_baseline.Add(*baseline);
  return CheckLimits(metrics, &of_baseline, limits);
}

bool NeedsSteps(std::span<const CheckLimit> limits) {
  return std::any_of(limits.begin(), limits.end(),
                     [](const CheckLimit& limit) { return limit.metric == CheckMetric::kFindings; });
}

std::vector<CheckRow> CheckLimits(const CheckMetrics& metrics, const CheckMetrics* baseline,
                                  std::span<const CheckLimit> limits) {
  std::vector<CheckRow> rows;
  for (const CheckLimit& limit : limits) {
    CheckRow& row = rows.emplace_back();
    row.limit = limit;
    row.value = metrics.ValueOf(limit);
    if (IsRelative(limit.kind) && baseline != nullptr) row.baseline = baseline->ValueOf(limit);
    row.bound = BoundOf(limit, row.baseline);
    row.passed = row.value && row.bound && (IsLeast(limit.kind) ? *row.value >= *row.bound : *row.value <= *row.bound);
    row.message = MessageOf(row);
  }
  return rows;
}

}  // namespace opscope
