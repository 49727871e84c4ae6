// Each metric is one number of another analysis. A new metric is a case of ValueOf and a name in check.cc.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/check_metrics.h"

#include <algorithm>

#include "opscope/analysis/advise.h"
#include "opscope/analysis/critical_path.h"
#include "opscope/analysis/memory_usage.h"

namespace opscope {
namespace {

std::optional<double> AsReal(const std::optional<int64_t>& value) {
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

}  // namespace

const StepDurations& CheckMetrics::Steps() {
  if (!steps_) steps_ = MeasureSteps(trace_).durations;
  return *steps_;
}

const std::vector<DeviceRow>& CheckMetrics::Devices() {
  if (!devices_) {
    devices_ = MeasureDevices(trace_);
    std::erase_if(*devices_, [](const DeviceRow& row) { return row.stream != TrackId::kNone; });
  }
  return *devices_;
}

template <typename Value>
double CheckMetrics::OfOp(std::string_view name, Value value) {
  if (!ops_) ops_ = SummarizeOps(trace_);
  double sum = 0;
  for (const OpSummaryRow& row : ops_->rows)
    if (trace_.text(row.name) == name) sum += static_cast<double>(value(row));
  return sum;
}

template <typename Value>
std::optional<double> CheckMetrics::LargestOfDevices(Value value) {
  std::optional<double> largest;
  for (const DeviceRow& row : Devices())
    largest = std::max(largest, std::optional<double>(value(row)));
  return largest;
}

std::optional<double> CheckMetrics::ValueOf(CheckMetric metric, std::string_view name) {
  switch (metric) {
    case CheckMetric::kStepMeanNs:
      return AsReal(Steps().mean_ns);
    case CheckMetric::kStepP50Ns:
      return AsReal(Steps().p50_ns);
    case CheckMetric::kStepP99Ns:
      return AsReal(Steps().p99_ns);
    case CheckMetric::kStepMaxNs:
      return AsReal(Steps().max_ns);
    case CheckMetric::kDeviceBusyShare: {
      std::optional<double> least;
      for (const DeviceRow& row : Devices()) {
        const std::optional<double> share = row.busy_share();
        if (share && (!least || *share < *least)) least = share;
      }
      return least;
    }
    case CheckMetric::kDeviceIdleNs:
      return LargestOfDevices([](const DeviceRow& row) { return static_cast<double>(row.idle_ns()); });
    case CheckMetric::kExposedCommunicationNs:
      return LargestOfDevices([](const DeviceRow& row) { return static_cast<double>(row.exposed_communication_ns); });
    case CheckMetric::kPeakMemoryBytes: {
      std::optional<double> largest;
      for (const DeviceMemoryRow& device : MeasureMemoryUsage(trace_).devices)
        largest = std::max(largest, std::optional<double>(static_cast<double>(device.peak_bytes)));
      return largest;
    }
    case CheckMetric::kCriticalPathNs: {
      std::optional<double> longest;
      for (const CriticalPath& path : FindCriticalPaths(trace_, {.rows = false}).paths)
        longest = std::max(longest, std::optional<double>(static_cast<double>(path.length_ns)));
      return longest;
    }
    case CheckMetric::kFindings:
      return static_cast<double>(Advise(trace_).findings.size());
    case CheckMetric::kOpTotalNs:
      return OfOp(name, [](const OpSummaryRow& row) { return row.total_ns; });
    case CheckMetric::kOpSelfNs:
      return OfOp(name, [](const OpSummaryRow& row) { return row.self_ns; });
    case CheckMetric::kOpCount:
      return OfOp(name, [](const OpSummaryRow& row) { return row.count; });
    case CheckMetric::kSpans:
      return static_cast<double>(trace_.spans().size());
    case CheckMetric::kProblems: {
      const auto& severity = trace_.problems().severity;
      return static_cast<double>(std::count_if(severity.begin(), severity.end(),
                                               [](ProblemSeverity each) { return each != ProblemSeverity::kInfo; }));
    }
  }
  return std::nullopt;
}

}  // namespace opscope
