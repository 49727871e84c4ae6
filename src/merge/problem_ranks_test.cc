// The ranks that each problem of a merged JOB names: they stay with the problem wherever the trace goes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "merge/merged_for_test.h"
#include "opscope/cut.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/merge.h"
#include "trace/builder.h"

namespace opscope {
namespace {

using RanksByKind = std::map<std::string, std::string>;

RanksByKind RanksOfProblems(const Trace& trace) {
  RanksByKind ranks;
  for (size_t i = 0; i < trace.problems().size(); ++i)
    ranks[std::string(trace.text(trace.problems().kind[i]))] = trace.text(trace.problems().ranks[i]);
  return ranks;
}

// A span, a problem of this kind, and with `is_foreign` a kernel whose id is of another operator than its launch.
MergeInput InputOf(int32_t rank, const std::string& problem, bool is_foreign = false) {
  TraceBuilder builder;
  builder.info().epoch_ns = 1'790'000'000'000'000'000;
  builder.info().world_size = 5;
  const ProcessId process = builder.AddProcess({.pid = 100 + rank, .rank = rank});
  const TrackId thread = builder.AddTrack({.process = process, .tid = 1});
  const TrackId stream = builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 7});
  const auto add = [&](TrackId track, const char* category, int64_t start, uint32_t external, uint32_t correlation) {
    SpanRow span;
    span.track = track, span.start = Timestamp{start}, span.duration = Duration{10 - start};
    span.name = builder.Intern("span"), span.category = builder.Intern(category);
    span.external_id = external, span.correlation = correlation;
    builder.AddSpan(span);
  };
  add(thread, "cpu_op", 0, 1, 0);
  if (is_foreign) {
    add(thread, "cuda_runtime", 2, 0, 5);
    add(stream, "kernel", 4, 2, 5);
  }
  if (!problem.empty()) builder.AddProblem(problem, -1);
  return {builder.Build(), "rank" + std::to_string(rank), rank};
}

std::vector<MergeInput> InputsOfJob() {
  std::vector<MergeInput> inputs;
  inputs.push_back(InputOf(0, "truncated"));
  inputs.push_back(InputOf(1, "", true));
  inputs.push_back(InputOf(3, "bad_value", true));
  inputs.push_back({Trace(), "rank4", 4, "it is damaged"});
  inputs[0].problems.push_back(
      {.file = "rank0", .kind = "rank_disagrees", .message = "the name says another", .ranks = {0}});
  return inputs;
}

const RanksByKind kExpected = {{"truncated", "[0]"},        {"bad_value", "[3]"},    {"foreign_ids", "[1,3]"},
                               {"unreadable_trace", "[4]"}, {"rank_missing", "[2]"}, {"rank_disagrees", "[0]"},
                               {"several_attempts", "[]"}};

Trace MergedJob() {
  MergeOptions options;
  options.of_job = {{.file = "", .kind = "several_attempts", .message = "there are two", .ranks = {}}};
  return MergeAll(InputsOfJob(), options).trace;
}

TEST(ProblemRanks, EachProblemOfAJobNamesItsRanks) {
  EXPECT_EQ(RanksOfProblems(MergedJob()), kExpected);
}

TEST(ProblemRanks, StayInAFileAndInAPart) {
  const Trace merged = MergedJob();
  const RanksByKind expected = RanksOfProblems(merged);
  const Result<std::string> bytes = OpscopeBytes(merged);
  ASSERT_TRUE(bytes.ok());
  const Result<Trace> read = ImportBytes(std::as_bytes(std::span(bytes.value())), "merged.opscope");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(RanksOfProblems(read.value()), expected);
  const Result<Trace> part = CutTrace(merged, std::vector<uint8_t>(merged.spans().size(), 1));
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(RanksOfProblems(part.value()), expected);
}

TEST(ProblemRanks, OfFilesThatAreNoJobAreUnknown) {
  for (const auto& [kind, ranks] : RanksOfProblems(MergeAll(InputsOfJob()).trace))
    EXPECT_EQ(ranks, kind == "rank_disagrees" ? "[0]" : "") << kind;
}

}  // namespace
}  // namespace opscope
