// SPDX-License-Identifier: Apache-2.0
#include "opscope/cut.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "opscope/analysis/span_filter.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/debug_text_for_test.h"
#include "trace/random_tables_for_test.h"

namespace opscope {
namespace {

constexpr const char kSteps[] = R"({"traceEvents":[
{"ph":"X","name":"ProfilerStep#1","cat":"user_annotation","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","name":"aten::linear","cat":"cpu_op","pid":1,"tid":1,"ts":10,"dur":50,"args":{"External id":1}},
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":20,"dur":30,"args":{"External id":2}},
{"ph":"X","name":"cudaLaunchKernel","cat":"cuda_runtime","pid":1,"tid":1,"ts":25,"dur":5,"args":{"correlation":7}},
{"ph":"s","id":7,"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":25},
{"ph":"f","id":7,"cat":"ac2g","name":"ac2g","pid":0,"tid":20,"ts":60,"bp":"e"},
{"ph":"X","name":"gemm","cat":"kernel","pid":0,"tid":20,"ts":60,"dur":20,"args":{"correlation":7,"External id":2}},
{"ph":"i","name":"marker","pid":1,"tid":3,"ts":70,"s":"t"},
{"ph":"X","name":"ProfilerStep#2","cat":"user_annotation","pid":1,"tid":1,"ts":100,"dur":100},
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":120,"dur":30},
{"ph":"C","name":"memory","pid":1,"ts":130,"args":{"bytes":5}},
{"ph":"i","name":"marker","pid":1,"tid":3,"ts":250,"s":"t"}],"host":"here"})";

Trace Read(const char* text) {
  return ImportBytes(std::as_bytes(std::span(text, std::strlen(text))), "input").value();
}

Trace CutBy(const Trace& trace, const std::string& condition) {
  return CutTrace(trace, SpanFilter::Parse(condition).value().Select(trace), condition).value();
}

std::string NamesByDepth(const Trace& trace) {
  std::string names;
  for (size_t i = 0; i < trace.spans().size(); ++i)
    names += std::string(trace.spans().depth[i], ' ') + std::string(trace.text(trace.spans().name[i])) + "\n";
  return names;
}

TEST(CutTrace, KeepsTheKindsThatCategoriesDoNotTell) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const StringId category = builder.Intern("cpu_op");
  for (const SpanKind kind : {kForcedOther, SpanKind::kForward, kKindOfCategory})
    builder.AddSpan({.duration = {1}, .category = category, .track = track, .kind = kind});
  const Trace cut = CutBy(builder.Build(), "duration = 1ns");
  EXPECT_EQ(std::vector(cut.spans().kind.begin(), cut.spans().kind.end()),
            (std::vector{SpanKind::kOther, SpanKind::kForward, SpanKind::kOperator}));
}

TEST(CutTrace, KeepsAStepWithWhatHappenedInIt) {
  const Trace cut = CutBy(Read(kSteps), "step = 2");
  EXPECT_EQ(NamesByDepth(cut), "ProfilerStep#2\n aten::mm\n");
  EXPECT_EQ(cut.steps().size(), 1u);
  EXPECT_EQ(cut.counters().size(), 1u);
  EXPECT_EQ(cut.instants().size(), 0u);
  EXPECT_EQ(cut.flows().size(), 0u);
  EXPECT_EQ(cut.spans().start[0].ns, 100000) << "times stay";
}

TEST(CutTrace, PutsSpansBelowTheInnermostKeptOne) {
  const Trace cut = CutBy(Read(kSteps), "name ~ Step or name = aten::mm");
  EXPECT_EQ(NamesByDepth(cut), "ProfilerStep#1\n aten::mm\nProfilerStep#2\n aten::mm\n");
  EXPECT_EQ(cut.spans().parent[1], SpanId{0});
}

TEST(CutTrace, KeepsAnArrowWhileBothEndsAreKept) {
  EXPECT_EQ(CutBy(Read(kSteps), "step = 1 or category = kernel").flows().size(), 1u);
  EXPECT_EQ(CutBy(Read(kSteps), "category = kernel").flows().size(), 0u);
}

TEST(CutTrace, LeavesOutTracksAndProcessesWithoutAnything) {
  const Trace cut = CutBy(Read(kSteps), "category = kernel");
  ASSERT_EQ(cut.processes().size(), 2u) << "the marker of process 1 lies within the kernel";
  const Trace no_marker = CutBy(Read(kSteps), "start < 20us and category = cpu_op");
  EXPECT_EQ(no_marker.processes().size(), 1u);
  EXPECT_EQ(no_marker.tracks().size(), 1u);
}

TEST(CutTrace, SaysWhatItIsInItsMetadata) {
  const Trace cut = CutBy(Read(kSteps), "name = gemm");
  std::string found;
  for (size_t row = 0; row < cut.metadata().size(); ++row) {
    if (cut.text(cut.metadata().key[row]) == "opscope_cut") found = cut.text(cut.metadata().json[row]);
  }
  EXPECT_EQ(found, R"({"spans":1,"spans_before":7,"condition":"name = gemm"})");
}

TEST(CutTrace, OfNothingIsEmptyAndCanBeWritten) {
  const Trace cut = CutBy(Read(kSteps), "name = nobody");
  EXPECT_EQ(cut.spans().size() + cut.instants().size() + cut.counters().size() + cut.tracks().size(), 0u);
  EXPECT_TRUE(OpscopeBytes(cut).ok());
  EXPECT_TRUE(ChromeTraceText(cut).ok());
}

TEST(CutTrace, OfNothingHasNoRangeAroundTimeZero) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  builder.AddSpan({.start = {-5}, .duration = {10}, .name = builder.Intern("op"), .track = track});
  builder.AddAsyncSpan({.start = {-5}, .duration = {10}, .name = builder.Intern("range"), .track = track});
  EXPECT_EQ(CutTrace(builder.Build(), {0}).value().async_spans().size(), 0u);
}

TEST(CutTrace, RefusesASelectionOfAnotherTrace) {
  const Result<Trace> cut = CutTrace(Read(kSteps), {1, 0});
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, ErrorCode::kInvalidArgument);
}

TEST(CutTrace, OfEverythingIsTheSameTrace) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Trace trace = RandomTables(seed).Make(300);
    const Trace cut = CutTrace(trace, std::vector<uint8_t>(trace.spans().size(), 1)).value();
    ASSERT_EQ(cut.spans().size(), trace.spans().size());
    EXPECT_EQ(NamesByDepth(cut), NamesByDepth(trace)) << "seed " << seed;
    EXPECT_EQ(cut.python_calls().size(), trace.python_calls().size()) << "seed " << seed;
    EXPECT_EQ(cut.tensors().size(), trace.tensors().size()) << "seed " << seed;
    EXPECT_EQ(cut.steps().size(), trace.steps().size()) << "seed " << seed;
  }
}

TEST(CutTrace, IsWholeWhateverIsLeftOut) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const Trace trace = RandomTables(seed).Make(200);
    std::mt19937_64 random(seed);
    std::vector<uint8_t> kept(trace.spans().size());
    for (uint8_t& keep : kept)
      keep = random() % 3 != 0;
    const Trace cut = CutTrace(trace, kept).value();
    const Result<std::string> bytes = OpscopeBytes(cut);
    ASSERT_TRUE(bytes.ok());
    const Result<Trace> again = ImportBytes(std::as_bytes(std::span(bytes.value())), "cut");
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(ToDebugText(again.value(), {.info = false}), ToDebugText(cut, {.info = false})) << "seed " << seed;
    for (size_t row = 0; row < cut.python_calls().size(); ++row)
      EXPECT_LT(Row(cut.python_calls().span[row]), cut.spans().size());
  }
}

}  // namespace
}  // namespace opscope
