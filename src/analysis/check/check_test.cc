// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/random_trace_for_test.h"
#include "opscope/analysis/advise.h"
#include "opscope/analysis/critical_path.h"
#include "opscope/analysis/devices.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/steps.h"
#include "trace/builder.h"

namespace opscope {
namespace {

std::optional<double> ValueOf(const Trace& trace, CheckMetric metric, const std::string& name = "") {
  const CheckLimit limit{.metric = metric, .name = name, .kind = LimitKind::kMax, .number = 0};
  return CheckTrace(trace, nullptr, {&limit, 1})[0].value;
}

CheckRow Compare(const Trace& trace, const Trace* baseline, LimitKind kind, double number, bool is_percent = false) {
  const CheckLimit limit{.metric = CheckMetric::kSpans, .kind = kind, .number = number, .is_percent = is_percent};
  return CheckTrace(trace, baseline, {&limit, 1})[0];
}

Trace TraceOfSpans(int count) {
  TraceBuilder builder;
  const TrackId thread = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (int i = 0; i < count; ++i)
    builder.AddSpan({.start = {i}, .duration = {1}, .track = thread});
  return builder.Build();
}

TEST(CheckTrace, HasTheNumbersOfTheAnalyses) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Trace trace = RandomTrace(seed, {.spans = 20, .has_device = true});
    double total = 0, self = 0, count = 0;
    for (const OpSummaryRow& row : SummarizeOps(trace).rows) {
      if (trace.text(row.name) != "a") continue;
      total += static_cast<double>(row.total_ns);
      self += static_cast<double>(row.self_ns);
      count += static_cast<double>(row.count);
    }
    EXPECT_EQ(ValueOf(trace, CheckMetric::kOpTotalNs, "a"), total);
    EXPECT_EQ(ValueOf(trace, CheckMetric::kOpSelfNs, "a"), self);
    EXPECT_EQ(ValueOf(trace, CheckMetric::kOpCount, "a"), count);
    EXPECT_EQ(ValueOf(trace, CheckMetric::kOpCount, "no such operator"), 0);
    EXPECT_EQ(ValueOf(trace, CheckMetric::kSpans), 20);
    EXPECT_EQ(ValueOf(trace, CheckMetric::kFindings), static_cast<double>(Advise(trace).findings.size()));
    double longest = 0;
    for (const CriticalPath& path : FindCriticalPaths(trace).paths)
      longest = std::max(longest, static_cast<double>(path.length_ns));
    EXPECT_EQ(ValueOf(trace, CheckMetric::kCriticalPathNs), longest);
    for (const DeviceRow& row : MeasureDevices(trace)) {
      if (row.stream != TrackId::kNone) continue;
      EXPECT_EQ(ValueOf(trace, CheckMetric::kDeviceIdleNs), static_cast<double>(row.idle_ns()));
      EXPECT_EQ(ValueOf(trace, CheckMetric::kExposedCommunicationNs),
                static_cast<double>(row.exposed_communication_ns));
      const std::optional<double> share = ValueOf(trace, CheckMetric::kDeviceBusyShare);
      ASSERT_EQ(share.has_value(), row.window_ns > 0);
      EXPECT_NEAR(share.value_or(0) * static_cast<double>(row.window_ns), static_cast<double>(row.busy_ns), 1e-9);
    }
  }
}

TEST(CheckTrace, TakesTheWorstDevice) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  for (int32_t device = 0; device < 2; ++device) {
    const TrackId stream =
        builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 7 + device, .device = device});
    for (const int64_t begin : {0, 80})
      builder.AddSpan({.start = {begin},
                       .duration = {20 - 10 * device},
                       .name = builder.Intern("ncclDevKernel_AllReduce"),
                       .category = builder.Intern("kernel"),
                       .track = stream});
  }
  const Trace trace = builder.Build();
  EXPECT_DOUBLE_EQ(ValueOf(trace, CheckMetric::kDeviceBusyShare).value(), 20.0 / 90);
  EXPECT_EQ(ValueOf(trace, CheckMetric::kDeviceIdleNs), 70);
  EXPECT_EQ(ValueOf(trace, CheckMetric::kExposedCommunicationNs), 40);
}

TEST(CheckTrace, HasTheStepsTheMemoryAndTheProblems) {
  TraceBuilder builder;
  const TrackId thread = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const int64_t length : {10, 20, 31}) {
    const AddedSpan span = builder.AddSpan({.start = {length * 10}, .duration = {length}, .track = thread});
    builder.AddStep(length, StringId::kEmpty, span);
  }
  builder.AddAllocation({.time = {1}, .track = thread, .bytes = 5, .total_allocated = 12});
  builder.AddProblem("truncated", 7, 3);
  builder.AddProblem("crossing_spans", 7, 3);
  const Trace trace = builder.Build();
  EXPECT_EQ(ValueOf(trace, CheckMetric::kStepMeanNs), 20);
  EXPECT_EQ(ValueOf(trace, CheckMetric::kStepP50Ns), 20);
  EXPECT_EQ(ValueOf(trace, CheckMetric::kStepP99Ns), 31);
  EXPECT_EQ(ValueOf(trace, CheckMetric::kStepMaxNs), 31);
  EXPECT_EQ(ValueOf(trace, CheckMetric::kPeakMemoryBytes), 12);
  EXPECT_EQ(ValueOf(trace, CheckMetric::kProblems), 1) << "a problem of severity info does not count";
  for (const CheckMetric metric : {CheckMetric::kStepMeanNs, CheckMetric::kStepP99Ns, CheckMetric::kPeakMemoryBytes,
                                   CheckMetric::kDeviceBusyShare, CheckMetric::kDeviceIdleNs})
    EXPECT_EQ(ValueOf(Trace(), metric), std::nullopt);
}

TEST(CheckTrace, LetsAnEqualValuePass) {
  const Trace trace = TraceOfSpans(21), baseline = TraceOfSpans(20);
  EXPECT_TRUE(Compare(trace, nullptr, LimitKind::kMax, 21).passed);
  EXPECT_FALSE(Compare(trace, nullptr, LimitKind::kMax, 20.5).passed);
  EXPECT_TRUE(Compare(trace, nullptr, LimitKind::kMin, 21).passed);
  EXPECT_FALSE(Compare(trace, nullptr, LimitKind::kMin, 22).passed);
  EXPECT_TRUE(Compare(trace, &baseline, LimitKind::kMaxIncrease, 5, true).passed);
  EXPECT_EQ(Compare(trace, &baseline, LimitKind::kMaxIncrease, 5, true).bound, 21);
  EXPECT_FALSE(Compare(trace, &baseline, LimitKind::kMaxIncrease, 4.9, true).passed);
  EXPECT_TRUE(Compare(trace, &baseline, LimitKind::kMaxIncrease, 1).passed);
  EXPECT_TRUE(Compare(baseline, &trace, LimitKind::kMaxDecrease, 1).passed);
  EXPECT_FALSE(Compare(baseline, &trace, LimitKind::kMaxDecrease, 0.5).passed);
  EXPECT_EQ(Compare(baseline, &trace, LimitKind::kMaxDecrease, 0.5).message,
            "spans is 20, less than 20.5 (baseline 21 - 0.5)");
}

TEST(CheckTrace, NamesItsMetricsInTheirOrder) {
  for (size_t metric = 0; metric < CheckMetricNames().size(); ++metric)
    EXPECT_EQ(CheckMetricFromName(CheckMetricNames()[metric]), static_cast<CheckMetric>(metric));
  EXPECT_EQ(CheckMetricFromName("planets"), std::nullopt);
}

}  // namespace
}  // namespace opscope
