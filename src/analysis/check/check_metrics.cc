// Each metric is one number of another analysis. A new metric is a name in check.cc, what Add measures for it, and a case of
// ValueOf.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/advise/advice_of_traces.h"
#include "base/saturating.h"
#include "opscope/analysis/check.h"
#include "opscope/analysis/critical_path.h"
#include "opscope/analysis/devices.h"
#include "opscope/analysis/memory_usage.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/steps.h"

namespace opscope {
namespace {

std::optional<double> AsReal(const std::optional<int64_t>& value) {
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

void KeepLargest(int64_t value, std::optional<int64_t>* largest) {
  *largest = std::max(*largest, std::optional<int64_t>(value));
}

}  // namespace

class CheckMetrics::State {
 public:
  explicit State(std::span<const CheckLimit> limits) {
    for (const CheckLimit& limit : limits) {
      wanted_.insert(limit.metric);
      if (IsOpMetric(limit.metric)) ops_.try_emplace(limit.name);
    }
  }

  void Add(const Trace& trace) {
    using enum CheckMetric;
    if (IsWanted({kStepMeanNs, kStepP50Ns, kStepP99Ns, kStepMaxNs})) {
      const std::vector<StepTimes> rows = MeasureSteps(trace).rows;
      steps_.insert(steps_.end(), rows.begin(), rows.end());
    }
    if (IsWanted({kDeviceBusyShare, kDeviceIdleNs, kExposedCommunicationNs})) AddDevices(trace);
    if (IsWanted({kPeakMemoryBytes})) {
      for (const DeviceMemoryRow& device : MeasureMemoryUsage(trace).devices)
        KeepLargest(device.peak_bytes, &peak_bytes_);
    }
    if (IsWanted({kCriticalPathNs})) {
      for (const CriticalPath& path : FindCriticalPaths(trace, {.rows = false}).paths)
        KeepLargest(path.length_ns, &critical_path_ns_);
    }
    if (IsWanted({kFindings})) advice_.Add(trace, nullptr, [](const Evidence& evidence) { return evidence; });
    if (!ops_.empty()) AddOps(trace);
    spans_ += trace.spans().size();
    const auto& severity = trace.problems().severity;
    problems_ += static_cast<uint64_t>(std::count_if(
        severity.begin(), severity.end(), [](ProblemSeverity each) { return each != ProblemSeverity::kInfo; }));
  }

  void SetProblems(uint64_t of_job) { problems_ = of_job; }

  std::optional<double> ValueOf(CheckMetric metric, std::string_view name) {
    switch (metric) {
      case CheckMetric::kStepMeanNs:
        return AsReal(MeasureStepDurations(steps_).mean_ns);
      case CheckMetric::kStepP50Ns:
        return AsReal(MeasureStepDurations(steps_).p50_ns);
      case CheckMetric::kStepP99Ns:
        return AsReal(MeasureStepDurations(steps_).p99_ns);
      case CheckMetric::kStepMaxNs:
        return AsReal(MeasureStepDurations(steps_).max_ns);
      case CheckMetric::kDeviceBusyShare:
        return busy_share_;
      case CheckMetric::kDeviceIdleNs:
        return AsReal(idle_ns_);
      case CheckMetric::kExposedCommunicationNs:
        return AsReal(exposed_communication_ns_);
      case CheckMetric::kPeakMemoryBytes:
        return AsReal(peak_bytes_);
      case CheckMetric::kCriticalPathNs:
        return AsReal(critical_path_ns_);
      case CheckMetric::kFindings:
        if (!findings_) findings_ = std::move(advice_).Conclude().findings.size();
        return static_cast<double>(*findings_);
      case CheckMetric::kOpTotalNs:
        return static_cast<double>(ops_.find(name)->second.total_ns);
      case CheckMetric::kOpSelfNs:
        return static_cast<double>(ops_.find(name)->second.self_ns);
      case CheckMetric::kOpCount:
        return static_cast<double>(ops_.find(name)->second.count);
      case CheckMetric::kSpans:
        return static_cast<double>(spans_);
      case CheckMetric::kProblems:
        return static_cast<double>(problems_);
    }
    return std::nullopt;
  }

 private:
  struct OpSums {
    int64_t total_ns = 0, self_ns = 0;
    uint64_t count = 0;
  };

  bool IsWanted(std::initializer_list<CheckMetric> metrics) const {
    return std::any_of(metrics.begin(), metrics.end(), [&](CheckMetric each) { return wanted_.contains(each); });
  }

  void AddDevices(const Trace& trace) {
    for (const DeviceRow& row : MeasureDevices(trace)) {
      if (row.stream != TrackId::kNone) continue;
      const std::optional<double> share = row.busy_share();
      if (share && (!busy_share_ || *share < *busy_share_)) busy_share_ = share;
      KeepLargest(row.idle_ns(), &idle_ns_);
      KeepLargest(row.exposed_communication_ns, &exposed_communication_ns_);
    }
  }

  // An operator has a row for hosts and one for devices.
  void AddOps(const Trace& trace) {
    for (const OpSummaryRow& row : SummarizeOps(trace).rows) {
      const auto found = ops_.find(trace.text(row.name));
      if (found == ops_.end()) continue;
      OpSums& sums = found->second;
      sums.total_ns = SaturatingAdd(sums.total_ns, row.total_ns);
      sums.self_ns = SaturatingAdd(sums.self_ns, row.self_ns);
      sums.count += row.count;
    }
  }

  std::set<CheckMetric> wanted_;
  std::vector<StepTimes> steps_;
  std::optional<double> busy_share_;
  std::optional<int64_t> idle_ns_, exposed_communication_ns_, peak_bytes_, critical_path_ns_;
  advise::AdviceOfTraces advice_{advise::AdviceOfTraces::Traces::kSeveral};
  std::optional<size_t> findings_;
  std::map<std::string, OpSums, std::less<>> ops_;  // by the names in limits
  uint64_t spans_ = 0;
  uint64_t problems_ = 0;
};

CheckMetrics::CheckMetrics(std::span<const CheckLimit> limits) : state_(std::make_unique<State>(limits)) {
}

CheckMetrics CheckMetrics::OfBaseline(std::span<const CheckLimit> limits) {
  std::vector<CheckLimit> relative;
  std::copy_if(limits.begin(), limits.end(), std::back_inserter(relative),
               [](const CheckLimit& limit) { return IsRelative(limit.kind); });
  return CheckMetrics(relative);
}

CheckMetrics::CheckMetrics(CheckMetrics&&) noexcept = default;
CheckMetrics::~CheckMetrics() = default;

void CheckMetrics::Add(const Trace& trace) {
  state_->Add(trace);
}

void CheckMetrics::SetProblems(uint64_t of_job) {
  state_->SetProblems(of_job);
}

std::optional<double> CheckMetrics::ValueOf(const CheckLimit& limit) const {
  return state_->ValueOf(limit.metric, limit.name);
}

}  // namespace opscope
