// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/flame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/random_trace_for_test.h"
#include "analysis/span_measures.h"

namespace opscope {
namespace {

struct Program {
  TraceBuilder builder;
  ProcessId process = builder.AddProcess({.pid = 1});
  TrackId track = builder.AddTrack({.process = process, .tid = 1, .name = builder.Intern("main")});

  SpanRow Row(std::string_view name, int64_t start, int64_t end, std::string_view category = "cpu_op") {
    return {.start = {start},
            .duration = {end - start},
            .name = builder.Intern(name),
            .category = builder.Intern(category),
            .track = track};
  }
  void Add(std::string_view name, int64_t start, int64_t end, std::string_view category = "cpu_op") {
    builder.AddSpan(Row(name, start, end, category));
  }
  StackId Stack(std::initializer_list<std::string_view> outermost_first) {
    StackId stack = StackId::kNone;
    for (const std::string_view frame : outermost_first)
      stack = builder.AddStack(builder.AddFrame(builder.Intern(frame)), stack);
    return stack;
  }
};

std::string PathOf(const FlameTree& tree, uint32_t node) {
  const FlameNode& at = tree.nodes[node];
  return at.parent == 0 ? std::string(at.name) : PathOf(tree, at.parent) + ";" + std::string(at.name);
}

std::map<std::string, int64_t> Selfs(const FlameTree& tree) {
  std::map<std::string, int64_t> selfs;
  for (uint32_t i = 1; i < tree.nodes.size(); ++i)
    selfs[PathOf(tree, i)] = tree.nodes[i].self;
  return selfs;
}

std::vector<std::tuple<std::string_view, uint32_t, int64_t, int64_t, uint64_t>> NodesOf(const FlameTree& tree) {
  std::vector<std::tuple<std::string_view, uint32_t, int64_t, int64_t, uint64_t>> nodes;
  for (const FlameNode& node : tree.nodes)
    nodes.emplace_back(node.name, node.parent, node.self, node.total, node.spans);
  return nodes;
}

TEST(Flame, FoldsSeveralMetricsInOnePassAsOneByOne) {
  constexpr FlameMetric kMetrics[] = {FlameMetric::kDeviceTime, FlameMetric::kTime, FlameMetric::kMemory,
                                      FlameMetric::kCount};
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const Trace trace = RandomTrace(seed, {});
    const std::vector<FlameTree> trees = FoldSpans(trace, kMetrics);
    ASSERT_EQ(trees.size(), std::size(kMetrics));
    for (size_t i = 0; i < trees.size(); ++i) {
      EXPECT_EQ(trees[i].metric, kMetrics[i]);
      EXPECT_EQ(NodesOf(trees[i]), NodesOf(FoldSpans(trace, kMetrics[i]))) << "seed " << seed;
    }
  }
}

TEST(Flame, KeepsTheHeaviestNodesWithTheirParents) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const Trace trace = RandomTrace(seed, {});
    const FlameTree all = FoldSpans(trace);
    for (size_t most = 0; most <= all.nodes.size() + 1; ++most) {
      const FlameTree tree = FoldSpans(trace, FlameMetric::kTime, {.max_nodes = most});
      ASSERT_EQ(tree.nodes.size(), std::clamp<size_t>(most, 1, all.nodes.size()));
      EXPECT_EQ(tree.folded_nodes, all.nodes.size() - tree.nodes.size());
      std::vector<int64_t> heaviest, kept;
      for (const FlameNode& node : all.nodes)
        heaviest.push_back(node.total);
      for (const FlameNode& node : tree.nodes)
        kept.push_back(node.total);
      std::sort(heaviest.rbegin(), heaviest.rend());
      std::sort(kept.rbegin(), kept.rend());
      EXPECT_TRUE(std::equal(kept.begin(), kept.end(), heaviest.begin()));
      const std::map<std::string, int64_t> selfs = Selfs(all), kept_selfs = Selfs(tree);
      EXPECT_TRUE(std::includes(selfs.begin(), selfs.end(), kept_selfs.begin(), kept_selfs.end()));
    }
  }
}

// A path of its own for every depth would be quadratic.
TEST(Flame, GivesWhatLiesTooDeepToTheDeepestNode) {
  constexpr int64_t kDepth = 30'000;
  Program program;
  for (int64_t i = 0; i < kDepth; ++i)
    program.Add("f" + std::to_string(i % 10), i, 2 * kDepth - i);
  const Trace trace = program.builder.Build();
  const FlameTree tree = FoldSpans(trace);
  ASSERT_EQ(tree.nodes.size(), kMaxFlameLevels + 1u);
  EXPECT_EQ(tree.deeper_spans, kDepth - kMaxFlameLevels);
  EXPECT_EQ(tree.nodes[0].total, 2 * kDepth);
  EXPECT_EQ(tree.nodes[1].self, 2);
  EXPECT_EQ(tree.nodes.back().self, 2 * (kDepth - kMaxFlameLevels + 1));
  EXPECT_EQ(tree.nodes.back().spans, kDepth - kMaxFlameLevels + 1u);
}

TEST(Flame, FoldsEqualPathsIntoOneNode) {
  Program program;
  for (const int64_t begin : {0, 100}) {
    program.Add("outer", begin, begin + 50);
    program.Add("inner", begin + 10, begin + 30);
  }
  program.Add("inner", 200, 207);
  const Trace trace = program.builder.Build();
  const FlameTree tree = FoldSpans(trace);
  EXPECT_EQ(Selfs(tree), (std::map<std::string, int64_t>{{"outer", 60}, {"outer;inner", 40}, {"inner", 7}}));
  EXPECT_EQ(tree.nodes[0].total, 107);
  EXPECT_EQ(tree.nodes[1].total, 100);
}

TEST(Flame, KnowsWhatANodeIs) {
  Program program;
  program.Add("train.py(1): main", 0, 100, "python_function");
  program.Add("nn.Module: Linear_0", 10, 90, "python_function");
  program.Add("a range", 20, 80, "user_annotation");
  program.Add("aten::mm", 30, 70);
  const Trace trace = program.builder.Build();
  const FlameTree tree = FoldSpans(trace);
  ASSERT_EQ(tree.nodes.size(), 5u);
  EXPECT_EQ(tree.nodes[0].kind, FlameKind::kRoot);
  EXPECT_EQ(tree.nodes[1].kind, FlameKind::kPythonCall);
  EXPECT_EQ(tree.nodes[2].kind, FlameKind::kModule);
  EXPECT_EQ(tree.nodes[3].kind, FlameKind::kRange);
  EXPECT_EQ(tree.nodes[4].kind, FlameKind::kOperator);
}

TEST(Flame, HasThreadsBelowTheRootWhenThereAreSeveral) {
  Program program;
  program.Add("op", 0, 10);
  program.track = program.builder.AddTrack({.process = program.process, .tid = 2, .name = program.builder.Intern("b")});
  program.Add("op", 0, 3);
  program.track = program.builder.AddTrack(
      {.process = program.process, .kind = TrackKind::kDeviceStream, .tid = 7, .name = program.builder.Intern("gpu")});
  program.Add("kernel", 0, 1000, "kernel");
  const Trace trace = program.builder.Build();
  EXPECT_EQ(Selfs(FoldSpans(trace)),
            (std::map<std::string, int64_t>{{"main", 0}, {"main;op", 10}, {"b", 0}, {"b;op", 3}}));
}

TEST(Flame, PutsTheFramesOfStacksWhereNoCallWasRecorded) {
  Program program;
  SpanRow outer = program.Row("aten::linear", 0, 100);
  outer.stack = program.Stack({"main", "forward"});
  program.builder.AddSpan(outer);
  SpanRow same = program.Row("aten::mm", 10, 20);
  same.stack = outer.stack;
  program.builder.AddSpan(same);
  SpanRow deeper = program.Row("aten::add", 30, 50);
  deeper.stack = program.Stack({"main", "forward", "hook"});
  program.builder.AddSpan(deeper);
  SpanRow other = program.Row("aten::mul", 60, 90);
  other.stack = program.Stack({"elsewhere"});
  program.builder.AddSpan(other);
  const Trace trace = program.builder.Build();
  EXPECT_EQ(Selfs(FoldSpans(trace)), (std::map<std::string, int64_t>{{"main", 0},
                                                                     {"main;forward", 0},
                                                                     {"main;forward;aten::linear", 40},
                                                                     {"main;forward;aten::linear;aten::mm", 10},
                                                                     {"main;forward;aten::linear;hook", 0},
                                                                     {"main;forward;aten::linear;hook;aten::add", 20},
                                                                     {"main;forward;aten::linear;aten::mul", 30}}));
}

TEST(Flame, CountsOtherThings) {
  Program program;
  program.Add("a", 0, 100);
  program.Add("b", 10, 20);
  program.builder.AddAllocation({.time = {15}, .track = program.track, .bytes = 64});
  program.builder.AddAllocation({.time = {50}, .track = program.track, .bytes = -64});
  const Trace trace = program.builder.Build();
  EXPECT_EQ(Selfs(FoldSpans(trace, FlameMetric::kCount)), (std::map<std::string, int64_t>{{"a", 1}, {"a;b", 1}}));
  EXPECT_EQ(Selfs(FoldSpans(trace, FlameMetric::kMemory)), (std::map<std::string, int64_t>{{"a", 0}, {"a;b", 64}}));
  EXPECT_EQ(FoldSpans(trace, FlameMetric::kFlops).nodes[0].total, 0);
}

TEST(Flame, LeavesOutAsynchronousSpansAndTellsHowMany) {
  Program program;
  program.Add("op", 0, 10);
  SpanRow async = program.Row("future", 0, 1000);
  async.flags = span_flags::kAsync;
  program.builder.AddSpan(async);
  const Trace trace = program.builder.Build();
  const FlameTree tree = FoldSpans(trace);
  EXPECT_EQ(tree.async_spans, 1u);
  EXPECT_EQ(tree.nodes[0].total, 10);
}

TEST(Flame, PartsThreadsAndStreamsAsAsked) {
  Program program;
  program.Add("op", 0, 10);
  program.Add("op", 20, 21, "other");
  const TrackId other = program.builder.AddTrack({.process = program.process, .tid = 2});
  const TrackId stream =
      program.builder.AddTrack({.process = program.process, .kind = TrackKind::kDeviceStream, .tid = 7});
  const TrackId notes =
      program.builder.AddTrack({.process = program.process, .kind = TrackKind::kDeviceAnnotation, .tid = 7});
  for (const TrackId track : {other, stream, notes}) {
    SpanRow row = program.Row("op", 0, 5);
    row.track = track;
    program.builder.AddSpan(row);
  }
  const Trace trace = program.builder.Build();
  const FlameTree apart = FoldSpans(trace);
  EXPECT_EQ(Selfs(apart),
            (std::map<std::string, int64_t>{{"main", 0}, {"main;op", 11}, {"thread 2", 0}, {"thread 2;op", 5}}));
  EXPECT_EQ(apart.device_spans, 1u);
  EXPECT_EQ(apart.other_spans, 1u);
  EXPECT_EQ(Selfs(FoldSpans(trace, FlameMetric::kTime, {.threads = ThreadNodes::kNever})),
            (std::map<std::string, int64_t>{{"op", 16}}));
  const FlameTree with_devices = FoldSpans(trace, FlameMetric::kTime, {.devices = true});
  EXPECT_EQ(with_devices.device_spans, 0u);
  ASSERT_EQ(with_devices.nodes.back().name, "op");
  EXPECT_EQ(with_devices.nodes[with_devices.nodes.back().parent].kind, FlameKind::kDevice);
  EXPECT_EQ(with_devices.nodes[2].spans, 2u);
  EXPECT_EQ(trace.text(with_devices.nodes[2].category), "cpu_op") << "that of the first";
}

TEST(Flame, HasANodeForEachOfSeveralThreadsWithOneName) {
  Program program;
  program.Add("op", 0, 10);
  for (const int64_t tid : {17, 18}) {
    program.track =
        program.builder.AddTrack({.process = program.process, .tid = tid, .name = program.builder.Intern("worker")});
    program.Add("op", 0, tid);
  }
  const Trace trace = program.builder.Build();
  EXPECT_EQ(Selfs(FoldSpans(trace)), (std::map<std::string, int64_t>{{"main", 0},
                                                                     {"main;op", 10},
                                                                     {"worker (17)", 0},
                                                                     {"worker (17);op", 17},
                                                                     {"worker (18)", 0},
                                                                     {"worker (18);op", 18}}));
}

TEST(Flame, HasOneNodeForAllStepsOfAFramework) {
  Program program;
  for (int64_t step = 0; step < 3; ++step) {
    program.Add("ProfilerStep#" + std::to_string(step), 100 * step, 100 * step + 50, "user_annotation");
    program.Add("op", 100 * step + 10, 100 * step + 20);
    program.Add("ProfileStep#" + std::to_string(step), 1000 + 100 * step, 1000 + 100 * step + 5, "ProfileStep");
  }
  const Trace trace = program.builder.Build();
  EXPECT_EQ(Selfs(FoldSpans(trace)),
            (std::map<std::string, int64_t>{{"ProfilerStep*", 120}, {"ProfilerStep*;op", 30}, {"ProfileStep*", 15}}));
}

// Kineto's span of the whole recording is no thread of its own, whatever its track was taken for. A program's own
// spans of that category are spans like any other.
TEST(Flame, LeavesOutTheRecordingsOwnSpanAlone) {
  Program program;
  program.Add("op", 0, 10, "Trace");
  const ProcessId spans = program.builder.AddProcess({.pid_text = program.builder.Intern("Spans")});
  SpanRow window = program.Row("PyTorch Profiler (0)", 0, 1000, "Trace");
  window.track = program.builder.AddTrack({.process = spans, .tid_text = program.builder.Intern("PyTorch Profiler")});
  program.builder.AddSpan(window);
  const Trace trace = program.builder.Build();
  EXPECT_EQ(Selfs(FoldSpans(trace)), (std::map<std::string, int64_t>{{"op", 10}}));
}

TEST(Flame, NamesASingleThreadWhenAsked) {
  Program program;
  program.Add("op", 0, 10);
  const Trace trace = program.builder.Build();
  EXPECT_EQ(Selfs(FoldSpans(trace, FlameMetric::kTime, {.threads = ThreadNodes::kAlways})),
            (std::map<std::string, int64_t>{{"main", 0}, {"main;op", 10}}));
}

TEST(Flame, HoldsAllTheTimeOfRandomTraces) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Trace trace = RandomTrace(seed, {.spans = 40, .threads = 2, .end = 50});
    const FlameTree tree = FoldSpans(trace);
    const std::vector<int64_t> self = MeasureSpans(trace).self_ns;
    int64_t expected = 0;
    for (size_t i = 0; i < self.size(); ++i)
      expected += (trace.spans().flags[i] & span_flags::kAsync) != 0 ? 0 : self[i];
    EXPECT_EQ(tree.nodes[0].total, expected);
    for (uint32_t i = 1; i < tree.nodes.size(); ++i)
      EXPECT_LT(tree.nodes[i].parent, i);
  }
}

TEST(Flame, OfAnEmptyTraceIsItsRoot) {
  const Trace trace;
  EXPECT_EQ(FoldSpans(trace).nodes.size(), 1u);
}

TEST(Flame, KnowsItsMetricsByName) {
  EXPECT_EQ(FlameMetricFromName("device_time"), FlameMetric::kDeviceTime);
  EXPECT_EQ(FlameMetricFromName("self_cpu_time_total"), std::nullopt);
}

}  // namespace
}  // namespace opscope
