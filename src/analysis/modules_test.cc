// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/modules.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/module_hierarchy_text.h"
#include "opscope/analysis/op_summary.h"
#include "trace/builder.h"

namespace opscope {
namespace {

struct Training {
  TraceBuilder builder;
  ProcessId process = builder.AddProcess({.pid = 1});
  TrackId track = AddThread(1);

  TrackId AddThread(uint64_t logical) {
    return builder.AddTrack({.process = process, .tid = static_cast<int64_t>(logical), .logical_thread = logical});
  }
  SpanRow Row(std::string_view name, int64_t start, int64_t end) {
    return {.start = {start},
            .duration = {end - start},
            .name = builder.Intern(name),
            .category = builder.Intern(name.starts_with("nn.") ? "python_function" : "cpu_op"),
            .track = track};
  }
  void Add(std::string_view name, int64_t start, int64_t end) { builder.AddSpan(Row(name, start, end)); }
  void Forward(std::string_view name, int64_t start, int64_t end, int64_t sequence) {
    SpanRow row = Row(name, start, end);
    row.sequence = sequence;
    builder.AddSpan(row);
  }
  void Backward(std::string_view name, int64_t start, int64_t end, int64_t sequence, uint64_t forward_thread) {
    SpanRow row = Row(name, start, end);
    row.scope = ScopeType::kBackwardFunction;
    row.sequence = sequence;
    row.forward_thread = forward_thread;
    builder.AddSpan(row);
  }
  // Two linear layers of one network, forward at 0, backward at 200.
  void AddNet() {
    Add("nn.Module: Net_0", 0, 100);
    Add("nn.Module: Linear_0", 10, 40);
    Forward("aten::linear", 15, 35, 7);
    Add("nn.Module: Linear_1", 50, 90);
    Forward("aten::linear", 55, 85, 8);
    Backward("AddmmBackward0", 200, 250, 8, 1);
    Add("aten::mm", 210, 220);
    Backward("AddmmBackward0", 260, 290, 7, 1);
  }
};

std::vector<std::string> PathsOf(const Trace& trace) {
  const ModulesOfSpans modules = FindModules(trace);
  std::vector<std::string> paths;
  for (const uint32_t node : modules.node_of)
    paths.push_back(modules.PathOf(node));
  return paths;
}

TEST(Modules, AreThoseOfTheInnermostCallAroundASpan) {
  Training program;
  program.Add("aten::ones", 0, 5);
  program.Add("nn.Module: Net_0", 10, 100);
  program.Add("nn.Module: Linear_2", 20, 60);
  program.Add("aten::mm", 30, 40);
  program.Add("aten::add", 70, 80);
  const Trace trace = program.builder.Build();
  EXPECT_EQ(PathsOf(trace), (std::vector<std::string>{"", "Net_0", "Net_0.Linear_2", "Net_0.Linear_2", "Net_0"}));
  EXPECT_TRUE(FindModules(trace).has_modules());
}

TEST(Modules, OfBackwardFunctionsAreThoseOfTheirForwardOperators) {
  Training program;
  program.AddNet();
  const Trace trace = program.builder.Build();
  const ModulesOfSpans modules = FindModules(trace);
  EXPECT_EQ(modules.PathOf(modules.node_of[5]), "Net_0.Linear_1");
  EXPECT_EQ(modules.PathOf(modules.node_of[6]), "Net_0.Linear_1");
  EXPECT_EQ(modules.PathOf(modules.node_of[7]), "Net_0.Linear_0");
  EXPECT_EQ(modules.is_backward, (std::vector<uint8_t>{0, 0, 0, 0, 0, 1, 1, 1}));
}

TEST(Modules, OfBackwardFunctionsDependOnTheForwardThread) {
  Training program;
  program.Add("nn.Module: A_0", 0, 10);
  program.Forward("aten::mul", 1, 9, 7);
  const TrackId other = program.AddThread(2);
  program.track = other;
  program.Add("nn.Module: B_0", 0, 10);
  program.Forward("aten::mul", 1, 9, 7);
  program.Backward("MulBackward0", 20, 30, 7, 1);
  program.Backward("MulBackward0", 40, 50, 7, 2);
  program.Backward("MulBackward0", 60, 70, 7, 3);
  const Trace trace = program.builder.Build();
  EXPECT_EQ(PathsOf(trace), (std::vector<std::string>{"A_0", "A_0", "B_0", "B_0", "A_0", "B_0", ""}));
}

// aten::item at the end of a step, and what normalises the input, note the number of the node that the first layer will
// make, but make no node themselves.
TEST(Modules, OfBackwardFunctionsAreThoseOfTheOperatorThatMadeTheNode) {
  Training program;
  program.Forward("aten::item", 0, 5, 7);
  program.Add("nn.Module: Scale_0", 6, 9);
  program.Forward("aten::div", 7, 8, 7);
  program.Add("nn.Module: Conv2d_0", 10, 40);
  program.Forward("aten::conv2d", 15, 35, 7);
  program.Forward("aten::convolution", 16, 34, 7);
  program.Backward("ConvolutionBackward0", 60, 70, 7, 1);
  program.Backward("ConvolutionBackward0", 80, 90, 7, 1);  // the graph was retained
  const Trace trace = program.builder.Build();
  EXPECT_EQ(PathsOf(trace), (std::vector<std::string>{"", "Scale_0", "Scale_0", "Conv2d_0", "Conv2d_0", "Conv2d_0",
                                                      "Conv2d_0", "Conv2d_0"}));
}

TEST(Modules, OfAGradientOfAGradientAreThoseOfTheFirstOne) {
  Training program;
  program.Add("nn.Module: A_0", 0, 10);
  program.Forward("aten::pow", 1, 9, 7);
  const TrackId other = program.AddThread(2);  // its spans stand before those of the first backward function
  const TrackId first = std::exchange(program.track, other);
  program.Backward("MulBackward0", 60, 70, 12, 1);
  program.track = first;
  program.Backward("PowBackward0", 20, 40, 7, 1);
  program.Forward("aten::mul", 25, 30, 12);
  const Trace trace = program.builder.Build();
  EXPECT_EQ(PathsOf(trace), (std::vector<std::string>{"A_0", "A_0", "A_0", "A_0", "A_0"}));
}

TEST(Modules, OfACheckpointedPassAreThoseThatItCalledAgain) {
  Training program;
  program.Add("nn.Module: Block_0", 0, 10);
  program.Forward("CheckpointFunction", 1, 9, 7);
  program.Backward("CheckpointFunctionBackward", 20, 90, 7, 1);
  program.Add("nn.Module: Linear_0", 30, 50);
  program.Forward("aten::linear", 35, 45, 9);
  program.Backward("AddmmBackward0", 60, 80, 9, 1);
  const Trace trace = program.builder.Build();
  EXPECT_EQ(PathsOf(trace), (std::vector<std::string>{"Block_0", "Block_0", "Block_0", "Block_0.Linear_0",
                                                      "Block_0.Linear_0", "Block_0.Linear_0"}));
}

TEST(Modules, OfTheEnginesFrameAndWhatHasNoNumberAreKnownWhereTheyCanBe) {
  Training program;
  program.Add("nn.Module: A_0", 0, 10);
  program.Forward("aten::mul", 1, 9, 7);
  SpanRow engine = program.Row("autograd::engine::evaluate_function: MulBackward0", 20, 40);
  engine.sequence = 7;
  engine.forward_thread = 1;
  program.builder.AddSpan(engine);
  program.Backward("MulBackward0", 21, 39, 7, 1);
  program.Add("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 50, 60);
  program.Backward("torch::autograd::AccumulateGrad", 51, 59, -1, 0);
  const Trace trace = program.builder.Build();
  EXPECT_EQ(PathsOf(trace), (std::vector<std::string>{"A_0", "A_0", "A_0", "A_0", "", ""}));
  EXPECT_EQ(FindModules(trace).is_backward, (std::vector<uint8_t>{0, 0, 1, 1, 1, 1}));
}

TEST(Modules, CalledAgainByABackwardFunctionStandBelowTheCheckpointedOne) {
  Training program;
  program.Add("nn.Module: Block_0", 0, 10);
  program.Forward("CheckpointFunction", 1, 9, 7);
  program.Backward("CheckpointFunctionBackward", 20, 60, 7, 1);
  program.Add("nn.Module: Linear_0", 30, 50);
  program.Add("aten::mm", 35, 45);
  const Trace trace = program.builder.Build();
  EXPECT_EQ(PathsOf(trace),
            (std::vector<std::string>{"Block_0", "Block_0", "Block_0", "Block_0.Linear_0", "Block_0.Linear_0"}));
}

TEST(Modules, OfTorchScriptAreReadFromTheirHierarchy) {
  EXPECT_EQ(ModulesOfHierarchy("TOP(Net)::forward.fc(Linear)::forward.SELF(Linear)::helper."),
            (std::vector<std::string>{"TOP(Net)", "fc(Linear)"}));
  EXPECT_EQ(ModulesOfHierarchy("TOP()::function."), std::vector<std::string>{});
  EXPECT_EQ(ModulesOfHierarchy(""), std::vector<std::string>{});
  EXPECT_EQ(ModulesOfHierarchy("no such form"), std::vector<std::string>{});
  EXPECT_EQ(ModulesOfHierarchy("a)::(b)::"), std::vector<std::string>{});

  Training program;
  const auto scripted = [&](std::string_view name, int64_t start, int64_t end, std::string_view hierarchy) {
    SpanRow row = program.Row(name, start, end);
    row.extra = program.builder.Intern("\"Module Hierarchy\": \"" + std::string(hierarchy) + "\"");
    program.builder.AddSpan(row);
  };
  scripted("aten::linear", 0, 50, "TOP(Net)::forward.fc(Linear)::forward.");
  scripted("aten::addmm", 10, 40, "TOP(Net)::forward.fc(Linear)::forward.");
  program.Add("nn.Module: RecursiveScriptModule_0", 60, 100);
  scripted("aten::relu", 70, 90, "TOP(Net)::forward.act(ReLU)::forward.");
  const Trace trace = program.builder.Build();
  EXPECT_EQ(PathsOf(trace), (std::vector<std::string>{"TOP(Net).fc(Linear)", "TOP(Net).fc(Linear)",
                                                      "RecursiveScriptModule_0", "RecursiveScriptModule_0.act(ReLU)"}));
}

TEST(Modules, DeeperThanTheLimitCountForTheDeepestOne) {
  constexpr int64_t kDepth = 3000, kLimit = 2048;
  Training program;
  for (int64_t i = 0; i < kDepth; ++i)
    program.Add("nn.Module: Net_0", i, 2 * kDepth - i);
  const ModuleSummary summary = SummarizeModules(program.builder.Build());
  ASSERT_EQ(summary.rows.size(), static_cast<size_t>(kLimit + 1));
  EXPECT_EQ(summary.rows.back().calls, static_cast<uint64_t>(kDepth - kLimit + 1));
  EXPECT_EQ(summary.rows[0].forward_ns, 2 * kDepth);
}

TEST(Modules, SumUpWhatRanInThem) {
  Training program;
  program.AddNet();
  program.builder.AddAllocation({.time = {212}, .track = program.track, .bytes = 64});
  const Trace trace = program.builder.Build();
  const ModuleSummary summary = SummarizeModules(trace);
  ASSERT_EQ(summary.nodes.size(), 4u);
  EXPECT_EQ(summary.nodes[1].name, "Net_0");
  const ModuleRow& net = summary.rows[1];
  EXPECT_EQ(net.calls, 1u);
  EXPECT_EQ(net.forward_ns, 100);
  EXPECT_EQ(net.forward_self_ns, 30);
  EXPECT_EQ(net.backward_ns, 80);
  EXPECT_EQ(net.backward_self_ns, 0);
  EXPECT_EQ(net.self_ops, 0u);
  EXPECT_EQ(net.ops, 5u);
  const ModuleRow& last = summary.rows[3];
  EXPECT_EQ(summary.nodes[3].name, "Linear_1");
  EXPECT_EQ(last.forward_ns, 40);
  EXPECT_EQ(last.backward_ns, 50);
  EXPECT_EQ(last.memory_bytes, 64);
  EXPECT_EQ(summary.rows[0].forward_ns + summary.rows[0].backward_ns, 180);
  EXPECT_EQ(summary.rows[0].memory_bytes, 64);
}

TEST(Modules, GroupTheOperatorSummary) {
  Training program;
  program.AddNet();
  const Trace trace = program.builder.Build();
  const OpSummary summary = SummarizeOps(trace, {.group_by = {GroupKey::kName, GroupKey::kModule}});
  EXPECT_EQ(summary.key_names, std::vector<std::string>{"module"});
  std::vector<std::string> linear;
  for (const OpSummaryRow& row : summary.rows) {
    if (trace.text(row.name) == "aten::linear") linear.push_back(row.keys[0]);
  }
  EXPECT_EQ(linear, (std::vector<std::string>{"Net_0.Linear_0", "Net_0.Linear_1"}));
}

TEST(Modules, OfATraceWithoutAnyAreNone) {
  Training program;
  program.Add("aten::mm", 0, 10);
  const Trace trace = program.builder.Build();
  EXPECT_FALSE(FindModules(trace).has_modules());
  EXPECT_EQ(SummarizeModules(trace).rows[0].forward_ns, 10);
  EXPECT_EQ(SummarizeModules(Trace()).rows.size(), 1u);
}

// Whatever its format calls an operator, and whatever its names look like.
TEST(Modules, CountOperatorsAndCallsByKind) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const auto add = [&](const char* name, const char* category, int64_t start, int64_t end, SpanKind kind) {
    builder.AddSpan({.start = {start},
                     .duration = {end - start},
                     .name = builder.Intern(name),
                     .category = builder.Intern(category),
                     .track = track,
                     .kind = kind});
  };
  add("Linear_0", "layer", 0, 100, SpanKind::kModule);
  add("matmul dygraph", "Operator", 10, 40, kKindOfCategory);
  add("matmul infer_meta", "OperatorInner", 12, 14, kKindOfCategory);
  add("nn.Module: no call", "cpu_op", 50, 60, kKindOfCategory);
  const ModuleSummary summary = SummarizeModules(builder.Build());
  ASSERT_EQ(summary.rows.size(), 2u);
  EXPECT_EQ(summary.rows[1].calls, 1u);
  EXPECT_EQ(summary.rows[1].self_ops, 2u);
}

}  // namespace
}  // namespace opscope
