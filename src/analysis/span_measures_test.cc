// SPDX-License-Identifier: Apache-2.0
#include "analysis/span_measures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// Bytes for each span, by the definition: of the last span that has begun, it or the first span around it that lasts.
std::vector<int64_t> ObviousMemory(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  std::vector<int64_t> ends, bytes(spans.size(), 0);
  for (size_t row = 0; row < spans.size(); ++row) {
    const int64_t end = spans.start[row].ns + spans.duration[row].ns;
    ends.push_back(spans.parent[row] == SpanId::kNone ? end : std::min(end, ends[Row(spans.parent[row])]));
  }
  for (size_t i = 0; i < trace.allocations().size(); ++i) {
    const Timestamp time = trace.allocations().time[i];
    const auto after = std::upper_bound(spans.start.begin(), spans.start.end(), time);
    if (after == spans.start.begin()) continue;
    SpanId span{static_cast<uint32_t>(after - spans.start.begin() - 1)};
    while (span != SpanId::kNone && ends[Row(span)] < time.ns)
      span = spans.parent[Row(span)];
    if (span != SpanId::kNone) bytes[Row(span)] += trace.allocations().bytes[i];
  }
  return bytes;
}

TEST(SpanMeasures, GiveMemoryToTheInnermostSpanHoweverDeepTheyNest) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    TraceBuilder builder;
    const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
    const int64_t most = seed % 2 == 0 ? 2000 : 100;
    int64_t start = 0, depth = 0;
    for (int i = 0; i < 4000; ++i) {
      const int64_t up = static_cast<int64_t>(random() % 5);
      depth = std::clamp<int64_t>(random() % 4 == 0 ? depth - up : depth + 1, 0, most);
      start += static_cast<int64_t>(random() % 3);
      builder.AddSpan({.start = {start},
                       .duration = {static_cast<int64_t>(random() % 9000)},
                       .track = track,
                       .depth = static_cast<uint16_t>(depth)});
    }
    for (int i = 0; i < 500; ++i)
      builder.AddAllocation({.time = {static_cast<int64_t>(random() % 12000)}, .track = track, .bytes = 1 + i});
    builder.SetPreOrdered(track);
    const Trace trace = builder.Build();
    EXPECT_EQ(MeasureSpans(trace).self_memory_bytes, ObviousMemory(trace)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace opscope
