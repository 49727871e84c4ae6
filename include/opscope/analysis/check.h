// Compares metrics of a trace with limits, for a gate in continuous integration.
// docs/reference/check.md defines the metrics.
//
//   const CheckLimit limit{.metric = CheckMetric::kStepP50Ns, .kind = LimitKind::kMaxIncrease, .number = 5, .is_percent
//   = true}; for (const CheckRow& row : CheckTrace(trace, &baseline, {&limit, 1}))
//     if (!row.passed) Print(row.message);
//
// Thread rule: pure functions of immutable Traces; results are plain values. CheckMetrics has a rule of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// What a limit is for. CheckMetricNames has the names in this order.
enum class CheckMetric : uint8_t {
  // Of the durations of steps (opscope/analysis/steps.h).
  kStepMeanNs,
  kStepP50Ns,
  kStepP99Ns,
  kStepMaxNs,
  // Smallest busy share, largest idle time and largest exposed communication of the devices
  // (opscope/analysis/devices.h).
  kDeviceBusyShare,
  kDeviceIdleNs,
  kExposedCommunicationNs,
  // The largest peak of allocated memory of a device.
  kPeakMemoryBytes,
  // The longest critical path of a rank (opscope/analysis/critical_path.h).
  kCriticalPathNs,
  // Of the operator with the limit's name (opscope/analysis/op_summary.h); 0 if the trace does not have it.
  kOpTotalNs,
  kOpSelfNs,
  kOpCount,
  // Number of spans.
  kSpans,
  // Number of problems that say that input was lost or wrong; of a job, those of the whole job.
  kProblems,
  // Number of findings (opscope/analysis/advise.h).
  kFindings,
};

// "step_mean_ns", "step_p50_ns", ...
[[nodiscard]] std::span<const std::string_view> CheckMetricNames();
// nullopt: no metric has this name.
[[nodiscard]] std::optional<CheckMetric> CheckMetricFromName(std::string_view name);
// True for op_total_ns, op_self_ns and op_count.
[[nodiscard]] bool IsOpMetric(CheckMetric metric);

enum class LimitKind : uint8_t { kMin, kMax, kMaxIncrease, kMaxDecrease };

// "min", "max", "max_increase", "max_decrease"
[[nodiscard]] std::string_view LimitKindName(LimitKind kind);
// nullopt: no kind has this name.
[[nodiscard]] std::optional<LimitKind> LimitKindFromName(std::string_view name);
// True for max_increase and max_decrease, which need a baseline.
[[nodiscard]] bool IsRelative(LimitKind kind);

// One limit.
struct CheckLimit {
  CheckMetric metric = CheckMetric::kSpans;
  // Of the operator, for op metrics; "" for others.
  std::string name = {};
  LimitKind kind = LimitKind::kMax;
  // The value that must not be crossed; of relative kinds the change. Finite.
  double number = 0;
  // The change is in per cent of the baseline's value.
  bool is_percent = false;
};

// `metric`: METRIC, or METRIC:NAME for one operator. `number`: a number; of relative kinds also a percentage, "5%".
// kInvalidArgument says what is wrong.
//
//   ParseCheckLimit("op_self_ns:aten::mm", LimitKind::kMaxIncrease, "5%")
[[nodiscard]] Result<CheckLimit> ParseCheckLimit(std::string_view metric, LimitKind kind, std::string_view number);

// The answer to one limit.
struct CheckRow {
  CheckLimit limit;
  // nullopt: the trace does not have the metric. Then the limit is crossed.
  std::optional<double> value;
  // Of relative kinds; nullopt also if the baseline does not have the metric.
  std::optional<double> baseline;
  // What the value is compared with. nullopt: unknown, and crossed.
  std::optional<double> bound;
  bool passed = false;
  // A sentence with the numbers.
  std::string message;
};

// One row per limit, in their order. Each metric is measured once, and only if a limit is for it.
// REQUIRES: a baseline if any limit is relative.
[[nodiscard]] std::vector<CheckRow> CheckTrace(const Trace& trace, const Trace* baseline,
                                               std::span<const CheckLimit> limits);

// The values of metrics, of a trace or of the ranks of a job in a trace each, which need not be in memory together.
//
// Thread rule: one thread at a time.
class CheckMetrics {
 public:
  // Measures what these limits are for.
  explicit CheckMetrics(std::span<const CheckLimit> limits);
  // Measures what relative limits are for.
  [[nodiscard]] static CheckMetrics OfBaseline(std::span<const CheckLimit> limits);
  CheckMetrics(CheckMetrics&&) noexcept;
  ~CheckMetrics();

  // Adds a trace, which is not needed afterwards. Costs what the analyses of the metrics cost.
  void Add(const Trace& trace);
  // Replaces the number of problems of the traces by that of their job, which also knows what no trace can tell, such as
  // a missing rank.
  void SetProblems(uint64_t of_job);
  // nullopt: the traces do not have it. REQUIRES: one of the limits. Nothing is added afterwards.
  [[nodiscard]] std::optional<double> ValueOf(const CheckLimit& limit) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// True if a limit is for findings. Those of one rank after the other are those of the merged ranks only if the job has
// steps; the other metrics are equal in any case.
[[nodiscard]] bool NeedsSteps(std::span<const CheckLimit> limits);
// As CheckTrace. baseline: nullptr as there.
[[nodiscard]] std::vector<CheckRow> CheckLimits(const CheckMetrics& metrics, const CheckMetrics* baseline,
                                                std::span<const CheckLimit> limits);

}  // namespace opscope
