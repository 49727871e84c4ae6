// SPDX-License-Identifier: Apache-2.0
#include "trace/builder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/debug_text_for_test.h"
#include "trace/problem_kinds.h"

namespace opscope {
namespace {

struct Fixture {
  TraceBuilder builder;
  ProcessId process = builder.AddProcess({.pid = 1});
  TrackId track = builder.AddTrack({.process = process, .tid = 1});

  AddedSpan Add(std::string_view name, int64_t start, int64_t duration, TrackId on, uint8_t flags = 0) {
    return builder.AddSpan(
        {.start = {start}, .duration = {duration}, .name = builder.Intern(name), .track = on, .flags = flags});
  }
  AddedSpan Add(std::string_view name, int64_t start, int64_t duration) { return Add(name, start, duration, track); }
};

std::vector<std::string> Names(const Trace& trace) {
  std::vector<std::string> names;
  for (const StringId name : trace.spans().name)
    names.emplace_back(trace.text(name));
  return names;
}

TEST(TraceBuilder, OrdersSpansByTrackAndInPreOrder) {
  Fixture f;
  const TrackId second = f.builder.AddTrack({.process = f.process, .tid = 2});
  f.Add("late", 50, 5);
  f.Add("other track", 0, 1, second);
  f.Add("child", 10, 5);
  f.Add("parent", 10, 20);
  const Trace trace = f.builder.Build();
  EXPECT_EQ(Names(trace), (std::vector<std::string>{"parent", "child", "late", "other track"}));
  EXPECT_EQ(trace.spans().parent[1], SpanId{0});
  EXPECT_EQ(trace.tracks().first_span[1], 3u);
  EXPECT_EQ(trace.tracks().span_count[0], 3u);
}

TEST(TraceBuilder, KeepsTheOrderOfPreOrderedTracks) {
  Fixture f;
  f.builder.SetPreOrdered(f.track);
  for (const uint16_t depth : {uint16_t{0}, uint16_t{1}, uint16_t{1}}) {
    f.builder.AddSpan({.start = {0},
                       .duration = {0},
                       .name = f.builder.Intern(std::to_string(depth)),
                       .track = f.track,
                       .depth = depth});
  }
  const Trace trace = f.builder.Build();
  EXPECT_EQ(trace.spans().parent[1], SpanId{0});
  EXPECT_EQ(trace.spans().parent[2], SpanId{0});
}

TEST(TraceBuilder, PutsAsyncSpansBehindTheNestedOnes) {
  Fixture f;
  f.Add("async", 5, 100, f.track, span_flags::kAsync);
  f.Add("outer", 0, 50);
  f.Add("inner", 6, 10);
  const Trace trace = f.builder.Build();
  EXPECT_EQ(Names(trace), (std::vector<std::string>{"outer", "inner", "async"}));
  EXPECT_EQ(trace.spans().parent[2], SpanId::kNone);
  EXPECT_EQ(trace.tracks().span_count[0], 3u);
}

TEST(TraceBuilder, CountsNegativeDurationsAndCrossings) {
  Fixture f;
  f.Add("a", 0, 10);
  f.Add("crosses", 5, 10);
  f.Add("backwards", 20, -4);
  const Trace trace = f.builder.Build();
  EXPECT_EQ(trace.spans().duration[1].ns, 10);
  EXPECT_EQ(trace.spans().duration[2].ns, 0);
  ASSERT_EQ(trace.problems().size(), 2u);
  EXPECT_EQ(trace.text(trace.problems().kind[0]), "negative_duration");
  EXPECT_EQ(trace.text(trace.problems().kind[1]), "crossing_spans");
  EXPECT_FALSE(trace.is_partial());
}

TEST(TraceBuilder, FindsTheInnermostSpanOfAFlow) {
  Fixture f;
  f.Add("outer", 0, 100);
  const AddedSpan given = f.Add("inner", 10, 20);
  f.Add("zero", 50, 0);
  const auto flow = [&](int64_t from, int64_t to, AddedSpan start = AddedSpan::kNone) {
    f.builder.AddFlow(
        {.start_time = {from}, .start_track = f.track, .start_span = start, .end_time = {to}, .end_track = f.track});
  };
  flow(15, 40), flow(50, 100), flow(-1, 200), flow(99, 29, given);
  const Trace trace = f.builder.Build();
  const FlowColumns& flows = trace.flows();
  EXPECT_EQ(flows.start_span[0], SpanId{1});
  EXPECT_EQ(flows.end_span[0], SpanId{0});
  EXPECT_EQ(flows.start_span[1], SpanId{2});
  EXPECT_EQ(flows.end_span[1], SpanId::kNone);
  EXPECT_EQ(flows.start_span[2], SpanId::kNone);
  EXPECT_EQ(flows.start_span[3], SpanId{1});
  EXPECT_EQ(flows.end_span[3], SpanId{1});
}

TEST(TraceBuilder, FollowsSpansThatMove) {
  Fixture f;
  const AddedSpan last = f.Add("second", 10, 1);
  f.Add("first", 0, 1);
  f.builder.AddStep(3, f.builder.Intern("ProfilerStep#3"), last);
  const Trace trace = f.builder.Build();
  EXPECT_EQ(trace.steps().span[0], SpanId{1});
}

TEST(TraceBuilder, StoresEqualArgumentListsOnce) {
  Fixture f;
  const int64_t sizes[] = {2, 3}, strides[] = {3, 1}, other[] = {2, 4};
  const ArgumentRow tensor{.kind = ArgumentKind::kTensor,
                           .dtype = f.builder.Intern("float"),
                           .has_strides = true,
                           .sizes = sizes,
                           .strides = strides};
  ArgumentRow longer = tensor;
  longer.sizes = other;
  const ArgumentRow pair[] = {tensor, longer};
  const ArgumentRow list{.kind = ArgumentKind::kTensorList, .tensors = pair};
  const ArgsId one = f.builder.AddArguments(std::span(&tensor, 1));
  const ArgsId two = f.builder.AddArguments(std::span(&longer, 1));
  const ArgsId three = f.builder.AddArguments(std::span(&list, 1));
  EXPECT_NE(one, two);
  ArgumentRow elsewhere{.kind = ArgumentKind::kTensor, .layout = TensorLayout::kMkldnn, .sizes = sizes};
  const ArgsId mkldnn = f.builder.AddArguments(std::span(&elsewhere, 1));
  elsewhere.layout = TensorLayout::kSparseCsr;
  EXPECT_NE(f.builder.AddArguments(std::span(&elsewhere, 1)), mkldnn);
  EXPECT_EQ(f.builder.AddArguments(std::span(&tensor, 1)), one);
  EXPECT_EQ(f.builder.AddArguments(std::span(&list, 1)), three);
  EXPECT_EQ(f.builder.AddArguments({}), ArgsId::kNone);
  const Trace trace = f.builder.Build();
  EXPECT_EQ(trace.arguments(mkldnn)[0].layout, TensorLayout::kMkldnn);
  EXPECT_EQ(trace.argument_list_count(), 5u);
  ASSERT_EQ(trace.arguments(three).size(), 1u);
  ASSERT_EQ(trace.arguments(three)[0].tensors.size(), 2u);
  EXPECT_EQ(trace.arguments(three)[0].tensors[1].sizes[1], 4);
  EXPECT_TRUE(trace.arguments(ArgsId::kNone).empty());
}

TEST(TraceBuilder, SharesStacksWithEqualCallers) {
  Fixture f;
  const FrameId main = f.builder.AddFrame(f.builder.Intern("main")),
                leaf = f.builder.AddFrame(f.builder.Intern("leaf"));
  const StackId root = f.builder.AddStack(main, StackId::kNone);
  EXPECT_EQ(f.builder.AddStack(leaf, root), f.builder.AddStack(leaf, root));
  EXPECT_NE(f.builder.AddStack(leaf, root), f.builder.AddStack(leaf, StackId::kNone));
  EXPECT_EQ(f.builder.AddFrame(f.builder.Intern("main")), main);
}

TEST(TraceBuilder, MergesProblemsByKind) {
  Fixture f;
  f.builder.AddProblem("bad_value", 17, 2, "field ts");
  f.builder.AddProblem("bad_value", 90, 3);
  const Trace trace = f.builder.Build();
  ASSERT_EQ(trace.problems().size(), 1u);
  EXPECT_EQ(trace.problems().count[0], 5u);
  EXPECT_EQ(trace.problems().first_offset[0], 17);
  EXPECT_EQ(trace.text(trace.problems().message[0]),
            "values that are not what the format says were ignored (field ts)");
}

TEST(TraceBuilder, SaysThatATraceIsPartialWhenInputWasLost) {
  for (const ProblemKind& kind : kProblemKinds) {
    Fixture f;
    f.builder.AddProblem(kind.name, -1);
    EXPECT_EQ(f.builder.Build().is_partial(), kind.severity != ProblemSeverity::kInfo) << kind.name;
  }
}

TEST(TraceBuilder, ReplacesMetadataOfTheSameKey) {
  Fixture f;
  f.builder.AddMetadata("a", "1");
  f.builder.AddMetadata("b", "2");
  f.builder.AddMetadata("a", "3");
  EXPECT_EQ(ToDebugText(f.builder.Build(), {.info = false}),
            "process 1\ntrack 0 process=0 tid=1\nmetadata \"a\" 3\nmetadata \"b\" 2\n");
}

TEST(TraceBuilder, FindsStringsByContent) {
  Fixture f;
  const std::string binary("\0\xff quote\" ", 10);
  const StringId id = f.builder.Intern(binary);
  f.builder.Intern("other");
  const Trace trace = f.builder.Build();
  EXPECT_EQ(trace.FindString(binary), id);
  EXPECT_EQ(trace.text(id), binary);
  EXPECT_EQ(trace.FindString(""), StringId::kEmpty);
  EXPECT_EQ(trace.FindString("absent"), std::nullopt);
  EXPECT_EQ(trace.text(StringId::kNone), "");
}

TEST(TraceBuilder, TakesEightyBytesPerSpanAtMost) {
  Fixture f;
  f.builder.SetPreOrdered(f.track);
  constexpr size_t kSpans = 200000;
  const uint64_t before = f.builder.memory_bytes();
  for (size_t i = 0; i < kSpans; ++i)
    f.Add("op", static_cast<int64_t>(i), 1);
  const Trace trace = f.builder.Build();
  EXPECT_LE((trace.memory_bytes() - before) / kSpans, 80u);
}

}  // namespace
}  // namespace opscope
