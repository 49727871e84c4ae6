// SPDX-License-Identifier: Apache-2.0
#include "trace/enclosing_spans.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "trace/builder.h"
#include "trace/nesting.h"

namespace opscope {
namespace {

class FlowTrack {
 public:
  FlowTrack() : track_(builder_.AddTrack({.process = builder_.AddProcess({.pid = 1}), .tid = 1})) {}
  void Span(int64_t start, int64_t end) {
    builder_.AddSpan({.start = {start}, .duration = {end - start}, .track = track_});
  }
  void Flow(int64_t start, int64_t end) {
    builder_.AddFlow({.start_time = {start}, .start_track = track_, .end_time = {end}, .end_track = track_});
  }
  Trace Build() { return builder_.Build(); }

 private:
  TraceBuilder builder_;
  TrackId track_;
};

// The last row that starts at or before the moment, or the nearest of its ancestors that holds it.
SpanId SlowlyEnclosing(const Trace& trace, Timestamp time) {
  const SpanColumns& spans = trace.spans();
  uint32_t row = Row(SpanId::kNone);
  for (uint32_t i = 0; i < spans.size() && spans.start[i].ns <= time.ns; ++i)
    row = i;
  while (row != Row(SpanId::kNone) && spans.start[row] != time &&
         EndOf(spans.start[row], spans.duration[row]) <= time.ns)
    row = Row(spans.parent[row]);
  return SpanId{row};
}

// Nests of up to 300 spans: some climbs are short, and some are put off.
TEST(EnclosingSpans, AreThoseThatAClimbFromTheLastStartFinds) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100 && !testing::Test::HasFailure(); ++round) {
    FlowTrack track;
    int64_t last = 0;
    for (size_t nests = 1 + random() % 3; nests > 0; --nests) {
      int64_t start = last + static_cast<int64_t>(random() % 5), end = start + 2000;
      last = end;
      for (size_t depth = 1 + random() % 300; depth > 0 && start <= end; --depth) {
        track.Span(start, end);
        start += static_cast<int64_t>(random() % 4);
        // Many end together, some alone, and a few cross their parents.
        if (random() % 3 == 0) end -= static_cast<int64_t>(random() % 20);
        if (random() % 50 == 0) end += 7;
      }
    }
    for (int flow = 0; flow < 200; ++flow) {
      const auto moment = [&] { return static_cast<int64_t>(random() % static_cast<uint64_t>(last + 20)); };
      const int64_t start = moment();
      track.Flow(start, moment());
    }
    const Trace trace = track.Build();
    const FlowColumns& flows = trace.flows();
    for (size_t i = 0; i < flows.size(); ++i) {
      ASSERT_EQ(flows.start_span[i], SlowlyEnclosing(trace, flows.start_time[i])) << flows.start_time[i].ns;
      ASSERT_EQ(flows.end_span[i], SlowlyEnclosing(trace, flows.end_time[i])) << flows.end_time[i].ns;
    }
  }
}

// A climb from the innermost span for each end of a flow would take 20,000,000,000 steps.
TEST(EnclosingSpans, OfManyFlowsBehindADeepNestAreTheSpanAroundAll) {
  constexpr int64_t kDepth = 100'000, kFlows = 100'000, kEnd = 10 * kDepth;
  FlowTrack track;
  track.Span(0, kEnd);
  for (int64_t i = 1; i <= kDepth; ++i)
    track.Span(i, 3 * kDepth - i);
  for (int64_t i = 0; i < kFlows; ++i)
    track.Flow(4 * kDepth + i, 6 * kDepth - i);
  track.Flow(4 * kDepth, kEnd);
  const Trace trace = track.Build();
  const FlowColumns& flows = trace.flows();
  ASSERT_EQ(flows.size(), static_cast<size_t>(kFlows) + 1);
  for (size_t i = 0; i < flows.size(); ++i) {
    ASSERT_EQ(flows.start_span[i], SpanId{0});
    ASSERT_EQ(flows.end_span[i], i + 1 < flows.size() ? SpanId{0} : SpanId::kNone);
  }
}

}  // namespace
}  // namespace opscope
