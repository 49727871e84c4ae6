// A slow first step, planted by hand with its saving, and twins in which it is not slow, or not the first one.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "opscope/analysis/advise.h"
#include "trace/builder.h"

namespace opscope {
namespace {

constexpr int64_t kMs = 1'000'000;

// Steps of these lengths, one after the other; `compile` runs in the first one, up to 2 ms before its end.
Trace TraceOfSteps(const std::vector<int64_t>& lengths_ms, int64_t first_number = 0, bool has_spans = true) {
  TraceBuilder builder;
  const TrackId thread = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const auto add = [&](const char* category, const std::string& name, int64_t begin, int64_t end) {
    return builder.AddSpan({.start = {begin},
                            .duration = {end - begin},
                            .name = builder.Intern(name),
                            .category = builder.Intern(category),
                            .track = thread});
  };
  int64_t begin = 0, number = first_number;
  for (const int64_t length_ms : lengths_ms) {
    const int64_t end = begin + length_ms * kMs;
    const std::string name = "ProfilerStep#" + std::to_string(number);
    builder.AddStep(number++, builder.Intern(name), add("user_annotation", name, begin, end));
    if (begin == 0 && has_spans) {
      add("user_annotation", "compile", 0, end - 2 * kMs);
      add("cpu_op", "aten::mm", 1, kMs);
      add("cpu_op", "aten::add", end - kMs, end);
    }
    begin = end;
  }
  return builder.Build();
}

TEST(SlowFirstStep, IsFoundWithItsExcessPerStep) {
  const Trace trace = TraceOfSteps({600, 10, 10, 12, 8});
  const Advice advice = Advise(trace);
  ASSERT_EQ(advice.findings.size(), 1u);
  const Finding& finding = advice.findings[0];
  EXPECT_EQ(finding.kind, FindingKind::kSlowFirstStep);
  EXPECT_EQ(finding.saving_ns, 590 * kMs / 5);
  EXPECT_EQ(finding.confidence, Confidence::kMedium);
  ASSERT_EQ(finding.count, 1u) << "what takes 5 % of the excess, and not what is inside it";
  EXPECT_EQ(trace.text(finding.evidence[0].name), "compile");
}

TEST(SlowFirstStep, IsItsOwnEvidenceWhereNoSpanTakesLong) {
  const Trace trace = TraceOfSteps({600, 10, 10, 12, 8}, 1, false);
  const Advice advice = Advise(trace);
  ASSERT_EQ(advice.findings.size(), 1u);
  EXPECT_EQ(trace.text(advice.findings[0].evidence[0].name), "");
  EXPECT_EQ(advice.findings[0].evidence[0].end_ns, 600 * kMs);
}

TEST(SlowFirstStep, IsNotFoundWhereItIsShortOrUsualOrNotTheFirst) {
  EXPECT_TRUE(Advise(TraceOfSteps({109, 10, 10, 10})).findings.empty()) << "99 ms more";
  EXPECT_TRUE(Advise(TraceOfSteps({490, 100, 100, 100})).findings.empty()) << "less than 5 times the others";
  EXPECT_TRUE(Advise(TraceOfSteps({600, 10, 10})).findings.empty()) << "too few steps";
  EXPECT_TRUE(Advise(TraceOfSteps({600, 10, 10, 10}, 2)).findings.empty()) << "two steps were before";
}

TEST(SlowFirstStep, IsNotFoundInALongRecording) {
  std::vector<int64_t> lengths(300, 100);
  lengths[0] = 1000;
  EXPECT_TRUE(Advise(TraceOfSteps(lengths)).findings.empty()) << "900 ms of 300 steps are 3 ms each";
}

}  // namespace
}  // namespace opscope
