// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/span_use.h"

#include <gtest/gtest.h>

#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// A step [0, 100) with an operator, a launch in it, its kernel in and one behind the step, an operator behind it, a
// device annotation and an asynchronous span.
class SpanUseProgram {
 public:
  SpanUseProgram() {
    const ProcessId process = builder_.AddProcess({.pid = 1});
    thread_ = builder_.AddTrack({.process = process, .tid = 1});
    stream_ = builder_.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0});
    builder_.AddStep(1, builder_.Intern("ProfilerStep#1"), Add(thread_, "ProfilerStep#1", "user_annotation", 0, 100));
    Add(thread_, "aten::mm", "cpu_op", 10, 30);
    Add(thread_, "cudaLaunchKernel", "cuda_runtime", 20, 25, 5);
    Add(thread_, "aten::add", "cpu_op", 120, 130);
    Add(stream_, "gemm", "kernel", 40, 60, 5);
    Add(stream_, "gemm", "kernel", 140, 160);
    Add(stream_, "a range", "gpu_user_annotation", 40, 60);
    builder_.AddSpan({.start = {5},
                      .duration = {7},
                      .name = builder_.Intern("later"),
                      .track = thread_,
                      .flags = span_flags::kAsync});
  }
  Trace Build() { return builder_.Build(); }

 private:
  AddedSpan Add(TrackId track, const char* name, const char* category, int64_t begin, int64_t end,
                uint32_t correlation = 0) {
    return builder_.AddSpan({.start = {begin},
                             .duration = {end - begin},
                             .name = builder_.Intern(name),
                             .category = builder_.Intern(category),
                             .track = track,
                             .correlation = correlation});
  }

  TraceBuilder builder_;
  TrackId thread_, stream_;
};

void ExpectCounts(const SpanUseCounts& counts, uint64_t used, uint64_t unread, uint64_t outside,
                  uint64_t left_out = 0) {
  EXPECT_EQ(counts.used, used);
  EXPECT_EQ(counts.unread, unread);
  EXPECT_EQ(counts.outside_steps, outside);
  EXPECT_EQ(counts.left_out, left_out);
}

TEST(SpanUse, CountsEverySpanOnceByTheFirstReason) {
  const Trace trace = SpanUseProgram().Build();
  ASSERT_EQ(trace.spans().size(), 8u);
  const SpanUse steps{.host_spans = true, .works = true, .step_spans = true, .place = SpanUsePlace::kInSteps};
  ExpectCounts(CountUsedSpans(trace, nullptr, steps), 4, 2, 2);
  ExpectCounts(CountUsedSpans(trace, nullptr, {.launches = true, .works = true}), 3, 5, 0);
  ExpectCounts(CountUsedSpans(trace, nullptr, {.operators = true}), 2, 6, 0);
  ExpectCounts(CountUsedSpans(trace, nullptr, {.other_spans = true}), 1, 7, 0);
  const std::vector<uint8_t> none(trace.spans().size(), 0);
  ExpectCounts(CountUsedSpans(trace, &none, steps), 0, 0, 0, 8);
}

TEST(SpanUse, NeedsNoStepWhereThereIsNone) {
  TraceBuilder builder;
  const TrackId thread = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  builder.AddSpan({.start = {0}, .duration = {9}, .name = builder.Intern("a"), .track = thread});
  const Trace trace = builder.Build();
  ExpectCounts(CountUsedSpans(trace, nullptr, {.host_spans = true, .place = SpanUsePlace::kInStepsIfAny}), 1, 0, 0);
  ExpectCounts(CountUsedSpans(trace, nullptr, {.host_spans = true, .place = SpanUsePlace::kInSteps}), 0, 0, 1);
  ExpectCounts(CountUsedSpans(Trace(), nullptr, {.host_spans = true}), 0, 0, 0);
}

}  // namespace
}  // namespace opscope
