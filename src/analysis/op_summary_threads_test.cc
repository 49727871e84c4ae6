// The operator summary is the same however many threads count, and wherever the rows are divided among them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "analysis/op_summary_part.h"
#include "analysis/random_trace_for_test.h"
#include "analysis/span_measures.h"
#include "analysis/torch/flops.h"
#include "opscope/analysis/span_filter.h"

namespace opscope {
namespace {

constexpr uint32_t kThreads[] = {1, 2, 3, 7};

// Everything that a summary looks at: calls with formulas within each other, modules, stacks, shapes, allocations,
// devices, asynchronous and crossing spans, a track whose depths were recorded, and times at the ends of their range.
Trace RandomWideTrace(uint64_t seed, int spans) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  const bool is_hostile = below(4) == 0;
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const auto add_track = [&](TrackKind kind, int32_t device) {
    return builder.AddTrack({.process = process, .kind = kind, .tid = below(3), .device = device});
  };
  std::vector<TrackId> tracks = {add_track(TrackKind::kThread, -1), add_track(TrackKind::kThread, -1)};
  const TrackId by_depth = tracks.emplace_back(add_track(TrackKind::kThread, -1));
  builder.SetPreOrdered(by_depth);
  tracks.push_back(add_track(TrackKind::kDeviceStream, 0));
  tracks.push_back(add_track(TrackKind::kDeviceStream, 1));
  tracks.push_back(add_track(TrackKind::kDeviceAnnotation, 1));
  const std::vector<const char*> names = {
      "aten::linear", "aten::addmm", "aten::conv1d", "aten::mul", "nn.Module: Net_0", "nn.Module: Fit_1", "a", "b"};
  const char* categories[] = {"cpu_op", "cuda_runtime", "python_function", "kernel"};
  std::vector<ArgsId> lists = {ArgsId::kNone};
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 5}, {5, 5}, {5}}) {
    const ArgumentRow tensor = {.kind = ArgumentKind::kTensor, .dtype = builder.Intern("float"), .sizes = sizes};
    lists.push_back(builder.AddArguments(std::vector(3, tensor)));
    lists.push_back(builder.AddArguments(std::vector(2, tensor)));
  }
  std::vector<StackId> stacks = {StackId::kNone};
  for (const char* frame : {"f", "g", "h"})
    stacks.push_back(builder.AddStack(builder.AddFrame(builder.Intern(frame)), stacks.back()));
  uint16_t depth = 0;
  for (int i = 0; i < spans; ++i) {
    SpanRow row;
    row.start = {below(60)};
    row.duration = {below(30)};
    if (is_hostile && below(5) == 0) row.duration = {INT64_MAX - below(3)};
    if (is_hostile && below(9) == 0) row.start = {below(2) == 0 ? INT64_MIN : INT64_MAX};
    row.name = builder.Intern(names[random() % names.size()]);
    row.category = builder.Intern(categories[below(4)]);
    row.track = tracks[random() % tracks.size()];
    row.flags = below(8) == 0 ? span_flags::kAsync : uint8_t{0};
    if (row.flags != 0 && below(2) == 0) row.flags |= span_flags::kCrossing;
    row.args = lists[random() % lists.size()];
    row.stack = stacks[random() % stacks.size()];
    row.correlation = static_cast<uint32_t>(below(6));
    row.external_id = static_cast<uint32_t>(below(spans));
    if (is_hostile && below(3) == 0) row.external_id = UINT32_MAX - static_cast<uint32_t>(below(3));
    if (row.track == by_depth && row.flags == 0) {
      row.start = {static_cast<int64_t>(i)};
      row.depth = depth = static_cast<uint16_t>(below(depth + 2));
    }
    builder.AddSpan(row);
  }
  for (int64_t i = below(12); i > 0; --i)
    builder.AddAllocation({.time = {below(80)}, .track = tracks[random() % 3], .bytes = below(100) - 50});
  return builder.Build();
}

// All numbers of a summary, in their order.
std::string TextOf(const OpSummary& summary) {
  std::string text = std::to_string(summary.thread_self_ns);
  if (summary.correction) text += " below zero " + std::to_string(summary.correction->below_zero);
  for (const OpSummaryRow& row : summary.rows) {
    text += "\n" + std::to_string(Row(row.name)) + (row.on_device ? " device" : " host");
    for (const std::string& key : row.keys)
      text += " '" + key + "'";
    for (const int64_t number :
         {static_cast<int64_t>(row.count), row.total_ns, row.total_with_recursion_ns, row.self_ns, row.thread_self_ns,
          row.min_ns, row.max_ns, row.p50_ns, row.p99_ns, row.stddev_ns, row.device_total_ns, row.device_self_ns,
          row.self_memory_bytes, row.flops})
      text += " " + std::to_string(number);
  }
  return text;
}

std::vector<GroupKey> RandomKeys(std::mt19937_64* random) {
  std::vector<GroupKey> keys;
  for (size_t key = 0; key < GroupKeyNames().size(); ++key) {
    if ((*random)() % 4 == 0) keys.push_back(static_cast<GroupKey>(key));
  }
  std::shuffle(keys.begin(), keys.end(), *random);
  return (*random)() % 2 == 0 ? std::vector{GroupKey::kName} : keys;
}

// `fraction`: halves add up to the same in any order, tenths do not.
SpanOverheads RandomCosts(size_t spans, double fraction, std::mt19937_64* random) {
  SpanOverheads costs;
  for (size_t i = 0; i < spans; ++i) {
    costs.own_ns.push_back(static_cast<double>((*random)() % 20) * fraction);
    costs.subtree_ns.push_back(costs.own_ns.back() + static_cast<double>((*random)() % 40) * fraction);
  }
  return costs;
}

TEST(OpSummaryThreads, DivideTheRowsAnywhereAndFindTheSame) {
  for (uint64_t seed = 1; seed <= 150 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Trace trace = RandomWideTrace(seed, static_cast<int>(random() % 40));
    OpSummaryOptions options{.group_by = RandomKeys(&random)};
    const SpanOverheads costs = RandomCosts(trace.spans().size(), 0.5, &random);
    if (random() % 2 == 0) options.overhead = &costs;
    std::vector<uint8_t> selected(trace.spans().size());
    for (uint8_t& is : selected)
      is = random() % 3 != 0;
    if (random() % 2 == 0) options.selected = &selected;
    const std::string whole = TextOf(SummarizeOps(trace, options));
    for (const size_t chunk : {1u, 2u, 3u, 5u, 11u}) {
      for (const uint32_t threads : kThreads) {
        options.max_threads = threads;
        ASSERT_EQ(TextOf(SummarizeOpsInChunks(trace, options, chunk)), whole) << chunk << " rows, threads " << threads;
      }
    }
  }
}

TEST(OpSummaryThreads, AddFractionsInTheSameOrder) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    const Trace trace = RandomTrace(seed, {.spans = 200, .end = 5000, .has_device = true});
    const SpanOverheads costs = RandomCosts(trace.spans().size(), 0.1, &random);
    OpSummaryOptions options{.overhead = &costs, .max_threads = 1};
    const std::string alone = TextOf(SummarizeOpsInChunks(trace, options, 7));
    for (const uint32_t threads : kThreads) {
      options.max_threads = threads;
      ASSERT_EQ(TextOf(SummarizeOpsInChunks(trace, options, 7)), alone) << "seed " << seed << ", threads " << threads;
    }
  }
}

TEST(OpSummaryThreads, MeasureEverySpanAlike) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Trace trace = RandomWideTrace(seed, static_cast<int>(seed % 50));
    const SpanMeasures whole = MeasureSpans(trace, 1);
    for (const uint32_t threads : kThreads) {
      const SpanMeasures parts = MeasureSpans(trace, threads, 1 + seed % 4);
      ASSERT_EQ(parts.self_ns, whole.self_ns) << "seed " << seed;
      ASSERT_EQ(parts.device_self_ns, whole.device_self_ns) << "seed " << seed;
      ASSERT_EQ(parts.device_total_ns, whole.device_total_ns) << "seed " << seed;
      ASSERT_EQ(parts.self_memory_bytes, whole.self_memory_bytes) << "seed " << seed;
    }
  }
}

// What the summary finds in its one pass is what other analyses find span by span.
TEST(OpSummaryThreads, AddUpWhatIsMeasuredBySpan) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Trace trace = RandomWideTrace(seed, static_cast<int>(seed % 50));
    const SpanMeasures measures = MeasureSpans(trace);
    const std::vector<int64_t> flops = FlopsOfSpans(trace);
    for (const OpSummaryRow& row : SummarizeOpsInChunks(trace, {}, 3).rows) {
      uint64_t memory = 0, operations = 0;
      int64_t self = 0, device = 0;
      for (size_t span = 0; span < trace.spans().size(); ++span) {
        const TrackKind kind = trace.tracks().kind[Row(trace.spans().track[span])];
        if (trace.spans().name[span] != row.name || (kind != TrackKind::kThread) != row.on_device) continue;
        self = SaturatingAdd(self, measures.self_ns[span]);
        device = SaturatingAdd(device, measures.device_self_ns[span]);
        if (!measures.self_memory_bytes.empty()) memory += static_cast<uint64_t>(measures.self_memory_bytes[span]);
        if (!flops.empty()) operations += static_cast<uint64_t>(flops[span]);
      }
      ASSERT_EQ(row.self_ns, self) << "seed " << seed;
      ASSERT_EQ(row.device_self_ns, device) << "seed " << seed;
      ASSERT_EQ(static_cast<uint64_t>(row.self_memory_bytes), memory) << "seed " << seed;
      ASSERT_EQ(static_cast<uint64_t>(row.flops), operations) << "seed " << seed;
    }
  }
}

// Rows enough for several chunks as they usually are, and a span around all of them.
TEST(OpSummaryThreads, CountALongTraceInTheUsualChunks) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  constexpr int64_t kCalls = 150'000;
  builder.AddSpan({.duration = {kCalls * 10}, .name = builder.Intern("all"), .track = track});
  for (int64_t i = 0; i < kCalls; ++i)
    builder.AddSpan({.start = {i * 10}, .duration = {1 + i % 7}, .name = builder.Intern("call"), .track = track});
  const Trace trace = builder.Build();
  const Result<SpanFilter> filter = SpanFilter::Parse("not (name = all or duration < 4) and start >= 40");
  OpSummaryOptions options{.max_threads = 1};
  const std::string alone = TextOf(SummarizeOps(trace, options));
  const std::vector<uint8_t> selected = filter.value().Select(trace, 1);
  for (const uint32_t threads : kThreads) {
    options.max_threads = threads;
    EXPECT_EQ(TextOf(SummarizeOps(trace, options)), alone);
    EXPECT_EQ(filter.value().Select(trace, threads), selected);
  }
  int64_t inside = 0;
  for (int64_t i = 0; i < kCalls; ++i)
    inside += 1 + i % 7;
  EXPECT_EQ(SummarizeOps(trace).rows[0].self_ns, kCalls * 10 - inside);
  options.selected = &selected;
  const OpSummary chosen = SummarizeOps(trace, options);
  ASSERT_EQ(chosen.rows.size(), 1u);
  EXPECT_EQ(chosen.rows[0].min_ns, 4);
  EXPECT_EQ(chosen.rows[0].count, static_cast<uint64_t>(std::count(selected.begin(), selected.end(), 1)));
}

// A tree as deep as it is long: every chunk lies inside all spans before it.
TEST(OpSummaryThreads, CountSpansThatAreAllInsideEachOther) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  constexpr int64_t kDepth = 140'000;
  for (int64_t i = 0; i < kDepth; ++i)
    builder.AddSpan({.start = {i}, .duration = {2 * (kDepth - i)}, .name = builder.Intern("f"), .track = track});
  const Trace trace = builder.Build();
  for (const uint32_t threads : kThreads) {
    const OpSummaryRow row = SummarizeOps(trace, {.max_threads = threads}).rows.at(0);
    EXPECT_EQ(row.total_ns, 2 * kDepth);
    EXPECT_EQ(row.self_ns, 2 * kDepth);
    EXPECT_EQ(row.count, static_cast<uint64_t>(kDepth));
  }
}

}  // namespace
}  // namespace opscope
