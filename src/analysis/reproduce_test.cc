// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/reproduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// Operators of one thread, one after the other, and the stream that they launch work on.
class Program {
 public:
  Program()
      : thread_(builder_.AddTrack({.process = builder_.AddProcess({.pid = 1}), .tid = 1})),
        stream_(builder_.AddTrack(
            {.process = builder_.AddProcess({.pid = 2}), .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0})) {}
  ArgsId Shape(int64_t size) {
    const std::vector<int64_t> sizes = {size}, strides = {1};
    const std::vector<ArgumentRow> rows = {{.kind = ArgumentKind::kTensor,
                                            .dtype = builder_.Intern("float"),
                                            .has_strides = true,
                                            .sizes = sizes,
                                            .strides = strides}};
    return builder_.AddArguments(rows);
  }
  SpanRow Row(const char* name, int64_t begin, int64_t end, ArgsId args = ArgsId::kNone) {
    return {.start = {begin},
            .duration = {end - begin},
            .name = builder_.Intern(name),
            .category = builder_.Intern("cpu_op"),
            .track = thread_,
            .args = args};
  }
  void Add(const SpanRow& row) { builder_.AddSpan(row); }
  void AddKernel(int64_t begin, int64_t end, uint32_t external_id, uint32_t correlation) {
    SpanRow row = Row("gemm", begin, end);
    row.category = builder_.Intern("kernel");
    row.track = stream_;
    row.external_id = external_id;
    row.correlation = correlation;
    builder_.AddSpan(row);
  }
  TraceBuilder& builder() { return builder_; }
  Trace Build() { return builder_.Build(); }

 private:
  TraceBuilder builder_;
  TrackId thread_, stream_;
};

TEST(Reproduce, ChoosesTheArgumentsWithTheLargestTotalTime) {
  Program program;
  const ArgsId small = program.Shape(4), large = program.Shape(8);
  program.Add(program.Row("aten::mm", 0, 3, small));
  program.Add(program.Row("aten::mm", 10, 15, large));
  program.Add(program.Row("aten::mm", 20, 24, small));
  program.Add(program.Row("MulBackward0", 30, 90, small));
  const Trace trace = program.Build();
  const Result<RecordedCall> call = ChooseCall(trace);
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(trace.text(call.value().name), "aten::mm");
  EXPECT_EQ(trace.arguments(call.value().args)[0].sizes[0], 4);
  EXPECT_EQ(call.value().calls, 2u);
  EXPECT_EQ(call.value().total_ns, 7);
  EXPECT_EQ(call.value().min_ns, 3);
  EXPECT_EQ(call.value().p50_ns, 3);
  EXPECT_EQ(call.value().max_ns, 4);
  EXPECT_EQ(call.value().other_groups, 1u);
  EXPECT_EQ(call.value().other_calls, 1u);
  EXPECT_EQ(call.value().device, CallDevice::kUnknown);
}

TEST(Reproduce, KeepsOverloadsApart) {
  Program program;
  const ArgsId args = program.Shape(4);
  SpanRow row = program.Row("aten::sum", 0, 3, args);
  row.overload = program.builder().Intern("dim_IntList");
  program.Add(row);
  program.Add(program.Row("aten::sum", 10, 12, args));
  const Trace trace = program.Build();
  const RecordedCall call = ChooseCall(trace).value();
  EXPECT_EQ(trace.text(call.overload), "dim_IntList");
  EXPECT_EQ(call.calls, 1u);
}

TEST(Reproduce, PrefersCallsWithRecordedArguments) {
  Program program;
  program.Add(program.Row("aten::mm", 0, 90));
  program.Add(program.Row("aten::mm", 100, 101, program.Shape(4)));
  const Trace trace = program.Build();
  EXPECT_NE(ChooseCall(trace).value().args, ArgsId::kNone);
}

TEST(Reproduce, FindsTheDeviceByTheWorkThatTheCallLaunched) {
  Program program;
  const ArgsId args = program.Shape(4);
  SpanRow outer = program.Row("aten::linear", 0, 20, args), inner = program.Row("aten::mm", 5, 15);
  outer.external_id = 1;
  inner.external_id = 2;
  program.Add(outer);
  program.Add(inner);
  SpanRow after = program.Row("aten::relu", 30, 31);
  after.external_id = 3;
  program.Add(after);
  program.AddKernel(12, 19, 2, 101);
  program.AddKernel(32, 35, 3, 102);
  const Trace trace = program.Build();
  ASSERT_EQ(trace.launches().size(), 2u);
  const RecordedCall call = ChooseCall(trace).value();
  EXPECT_EQ(trace.text(call.name), "aten::linear");
  EXPECT_EQ(call.device, CallDevice::kCuda);
  EXPECT_EQ(call.device_spans, 1u);
  EXPECT_EQ(call.device_ns, 7);
}

TEST(Reproduce, CountsTheWorkOfACallThatHasAnEqualOneInside) {
  Program program;
  const ArgsId args = program.Shape(4);
  SpanRow outer = program.Row("aten::mm", 0, 100, args), inner = program.Row("aten::mm", 10, 20, args);
  SpanRow later = program.Row("aten::add", 50, 60);
  outer.external_id = 1;
  inner.external_id = 2;
  later.external_id = 3;
  for (const SpanRow* row : {&outer, &inner, &later})
    program.Add(*row);
  program.AddKernel(15, 22, 2, 101);
  program.AddKernel(55, 60, 3, 102);
  const RecordedCall call = ChooseCall(program.Build()).value();
  EXPECT_EQ(call.calls, 2u);
  EXPECT_EQ(call.device_spans, 2u);
  EXPECT_EQ(call.device_ns, 12);
}

TEST(Reproduce, SaysWhatTheChosenSpansAreIfNoneIsAnOperator) {
  EXPECT_EQ(ChooseCall(Trace()).error().message, "no span is chosen");
  Program nodes;
  nodes.Add(nodes.Row("MulBackward0", 0, 1, nodes.Shape(4)));
  EXPECT_EQ(
      ChooseCall(nodes.Build()).error().message,
      "none of the 1 chosen spans is a call of an operator of torch: 'MulBackward0' is a node of autograd; choose "
      "an operator below it, such as one with \"name ~ aten\"");
  Program kernels;
  kernels.AddKernel(0, 1, 0, 0);
  EXPECT_NE(ChooseCall(kernels.Build()).error().message.find("'gemm' is of the kind kernel"), std::string::npos);
  Program open;
  SpanRow row = open.Row("aten::mm", 0, 1, open.Shape(4));
  row.flags = span_flags::kUnfinished;
  open.Add(row);
  EXPECT_NE(ChooseCall(open.Build()).error().message.find("'aten::mm' is unfinished"), std::string::npos);
}

TEST(Reproduce, TakesOnlyNamesThatAreIdentifiersForOperators) {
  for (const char* name : {"aten::mm", "my_lib::op2", "aten::__and__"})
    EXPECT_TRUE(IsOperatorName(name)) << name;
  for (const char* name : {"", "mm", "aten::", "::mm", "torch::autograd::AccumulateGrad", "aten::mm\n", "aten::a-b",
                           "aten::2d", "autograd::engine::evaluate_function: MulBackward0", "aten::m\"m", "aten: :mm"})
    EXPECT_FALSE(IsOperatorName(name)) << name;
}

TEST(Reproduce, AddsTimesWithoutOverflow) {
  Program program;
  const ArgsId args = program.Shape(4);
  for (int i = 0; i < 3; ++i)
    program.Add(program.Row("aten::mm", i, INT64_MAX, args));
  EXPECT_EQ(ChooseCall(program.Build()).value().total_ns, INT64_MAX);
}

// The definition in the plainest way.
void ExpectChoiceOfDefinition(const Trace& trace, const std::vector<uint8_t>& selected) {
  const SpanColumns& spans = trace.spans();
  using Key = std::tuple<StringId, StringId, ArgsId>;
  std::map<Key, std::vector<size_t>> groups;
  for (size_t row = 0; row < spans.size(); ++row) {
    const bool is_call = selected[row] != 0 && (spans.flags[row] & span_flags::kUnfinished) == 0 &&
                         spans.kind[row] == SpanKind::kOperator && trace.text(spans.name[row]).starts_with("aten::");
    if (is_call) groups[{spans.name[row], spans.overload[row], spans.args[row]}].push_back(row);
  }
  const Result<RecordedCall> call = ChooseCall(trace, &selected);
  ASSERT_EQ(call.ok(), !groups.empty());
  if (groups.empty()) return;
  std::tuple<bool, int64_t, int64_t> best = {false, -1, 0};  // has arguments, total, minus the first row
  Key chosen;
  uint64_t calls = 0;
  for (const auto& [key, rows] : groups) {
    int64_t total = 0;
    for (const size_t row : rows)
      total += spans.duration[row].ns;
    calls += rows.size();
    const std::tuple<bool, int64_t, int64_t> rank = {std::get<2>(key) != ArgsId::kNone, total,
                                                     -static_cast<int64_t>(rows[0])};
    if (rank > best) best = rank, chosen = key;
  }
  std::vector<int64_t> durations;
  for (const size_t row : groups[chosen])
    durations.push_back(spans.duration[row].ns);
  std::sort(durations.begin(), durations.end());
  EXPECT_EQ((Key{call.value().name, call.value().overload, call.value().args}), chosen);
  EXPECT_EQ(call.value().total_ns, std::get<1>(best));
  EXPECT_EQ(Row(call.value().first), groups[chosen][0]);
  EXPECT_EQ(call.value().calls, durations.size());
  EXPECT_EQ(call.value().min_ns, durations.front());
  EXPECT_EQ(call.value().p50_ns, durations[(durations.size() + 1) / 2 - 1]);
  EXPECT_EQ(call.value().max_ns, durations.back());
  EXPECT_EQ(call.value().other_groups, groups.size() - 1);
  EXPECT_EQ(call.value().other_calls, calls - durations.size());
}

TEST(Reproduce, AgreesWithTheDefinitionOnRandomTraces) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
    Program program;
    const std::vector<ArgsId> shapes = {ArgsId::kNone, program.Shape(4), program.Shape(8)};
    const std::vector<const char*> names = {"aten::mm", "aten::add", "MulBackward0"};
    for (int i = 0; i < 12; ++i) {
      const int64_t begin = below(14);
      SpanRow row = program.Row(names[static_cast<size_t>(below(3))], begin, begin + below(6),
                                shapes[static_cast<size_t>(below(3))]);
      if (below(3) == 0) row.overload = program.builder().Intern("Tensor");
      if (below(8) == 0) row.flags = span_flags::kUnfinished;
      program.Add(row);
    }
    const Trace trace = program.Build();
    std::vector<uint8_t> selected(trace.spans().size());
    for (uint8_t& one : selected)
      one = below(4) != 0 ? 1 : 0;
    ExpectChoiceOfDefinition(trace, selected);
  }
}

}  // namespace
}  // namespace opscope
