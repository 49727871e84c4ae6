// The merge of a job's ranks: how near their times come, and that every defect of the set of files is named.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "merge/merged_for_test.h"
#include "merge/synthetic_job_for_test.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

int32_t RankOfSpan(const Trace& trace, size_t row) {
  return trace.processes().rank[Row(trace.tracks().process[Row(trace.spans().track[row])])];
}

TEST(Merge, EightRanksComeWithinFiftyMicroseconds) {
  SyntheticJob job(1, {});
  const Merged merged = MergeAll(job.AllRanks());
  const int64_t p99 = ResidualP99(merged, job);
  std::printf("8 ranks, 1,000 steps: %.1f us from the truth (p99)\n", static_cast<double>(p99) / 1e3);
  EXPECT_LE(p99, kAllowedNs);
  EXPECT_EQ(ProblemText(merged.trace), "");
  EXPECT_EQ(merged.world_size, 8u);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(merged.inputs[i].rank, static_cast<int32_t>(i));
    EXPECT_EQ(merged.inputs[i].clock, i == 0 ? ClockSource::kReference : ClockSource::kCollectives);
    const double drift = job.clock(0).drift - job.clock(static_cast<int32_t>(i)).drift;
    EXPECT_NEAR(merged.inputs[i].drift, drift, 2e-6);
  }
}

TEST(Merge, SixtyFourRanksComeWithinFiftyMicroseconds) {
  SyntheticJob job(2, {.ranks = 64, .steps = 500});
  const Merged merged = MergeAll(job.AllRanks());
  const int64_t p99 = ResidualP99(merged, job);
  std::printf("64 ranks, 500 steps: %.1f us from the truth (p99)\n", static_cast<double>(p99) / 1e3);
  EXPECT_LE(p99, kAllowedNs);
  EXPECT_EQ(ProblemText(merged.trace), "");
}

TEST(Merge, FindsTheMomentsOfClocksThatHaveNothingInCommon) {
  SyntheticJob job(3, {.ranks = 4, .max_offset_ns = 3e15, .has_wall_clock = false});
  EXPECT_LE(ResidualP99(MergeAll(job.AllRanks()), job), kAllowedNs);
}

TEST(Merge, AClockThatIsSetWrongIsBelievedLessThanTheCollectives) {
  SyntheticJob job(4, {.ranks = 4, .max_offset_ns = 3600e9});
  EXPECT_LE(ResidualP99(MergeAll(job.AllRanks()), job), kAllowedNs);
}

TEST(Merge, NamesAMissingRank) {
  SyntheticJob job(5, {.steps = 200});
  std::vector<MergeInput> inputs = job.AllRanks();
  inputs.erase(inputs.begin() + 3);
  inputs.erase(inputs.begin() + 5, inputs.end());
  const Merged merged = MergeAll(std::move(inputs));
  EXPECT_EQ(ProblemsOf(merged.trace)["rank_missing"], "ranks of the job have no file (3; 6 to 7)");
  EXPECT_TRUE(merged.trace.is_partial());
  EXPECT_LE(ResidualP99(merged, job), kAllowedNs);
}

TEST(Merge, NamesARankThatIsCut) {
  SyntheticJob job(6, {.steps = 200});
  std::vector<MergeInput> inputs = job.AllRanks();
  const Result<std::string> whole = OpscopeBytes(inputs[2].trace);
  ASSERT_TRUE(whole.ok());
  const auto bytes = std::as_bytes(std::span(whole.value()));
  Result<Trace> cut = ImportBytes(bytes.first(bytes.size() - 2000), "job_rank2.opscope");
  ASSERT_TRUE(cut.ok()) << cut.error().message;
  ASSERT_TRUE(cut.value().is_partial());
  inputs[2].trace = std::move(cut).value();
  inputs[2].rank = 2;
  const Merged merged = MergeAll(std::move(inputs));
  auto problems = ProblemsOf(merged.trace);
  EXPECT_NE(problems["truncated"].find("(job_rank2.opscope)"), std::string::npos) << problems["truncated"];
  EXPECT_LE(ResidualP99(merged, job), kAllowedNs);
}

TEST(Merge, NamesARankThatEndsEarly) {
  SyntheticJob job(7, {.steps = 200});
  std::vector<MergeInput> inputs = job.AllRanks();
  inputs[2] = job.Rank(2, 0, 120);
  const Merged merged = MergeAll(std::move(inputs));
  EXPECT_EQ(ProblemsOf(merged.trace)["rank_ends_early"],
            "ranks ended to record before others (job_rank2.opscope: 160 collectives after)");
  EXPECT_LE(ResidualP99(merged, job), kAllowedNs);
}

TEST(Merge, NamesARankWithALaterStart) {
  SyntheticJob job(8, {.steps = 300});
  std::vector<MergeInput> inputs = job.AllRanks();
  inputs[5] = job.Rank(5, 100, 300);
  const Merged merged = MergeAll(std::move(inputs));
  EXPECT_EQ(ProblemsOf(merged.trace)["rank_starts_late"],
            "ranks began to record later than others (job_rank5.opscope: 200 collectives before)");
  EXPECT_LE(ResidualP99(merged, job), kAllowedNs);
}

TEST(Merge, NamesADoubledRankAndKeepsTheLongerFile) {
  SyntheticJob job(9, {.ranks = 4, .steps = 100});
  std::vector<MergeInput> inputs = job.AllRanks();
  inputs.push_back(job.Rank(1, 0, 60));
  inputs.back().name = "again.opscope";
  const Merged merged = MergeAll(std::move(inputs));
  EXPECT_EQ(
      ProblemsOf(merged.trace)["rank_doubled"],
      "files of a rank that another file covers were left out (again.opscope: rank 1 is in job_rank1.opscope too)");
  EXPECT_EQ(merged.trace.spans().size(), 4u * 300u);
}

TEST(Merge, AnswersForTheOthersWhereAnInputCouldNotBeRead) {
  SyntheticJob job(9, {.ranks = 4, .steps = 100});
  std::vector<MergeInput> inputs = job.AllRanks();
  inputs[2].trace = Trace();
  inputs[2].rank = 2;
  inputs[2].unreadable = "is not a trace";
  const Merged merged = MergeAll(std::move(inputs));
  EXPECT_EQ(ProblemText(merged.trace),
            "unreadable_trace: traces of ranks could not be read (job_rank2.opscope: is not a trace)\n");
  EXPECT_TRUE(merged.trace.is_partial());
  EXPECT_EQ(merged.trace.spans().size(), 3u * 300u);
  EXPECT_EQ(merged.inputs[2].left_out, "is not a trace");
}

TEST(Merge, RefusesInputsOfWhichNoneCouldBeRead) {
  std::vector<MergeInput> inputs;
  inputs.push_back({Trace(), "a", 0, "is not a trace"});
  EXPECT_EQ(MergeTraces(std::move(inputs)).error().message, "none of the inputs could be read");
}

// The clocks are set hours apart: what was merged has another time than the file of the rank.
TEST(Merge, NamesARankThatAMergedFileHolds) {
  for (const double offset_ns : {0.0, 36000e9}) {
    SCOPED_TRACE(offset_ns);
    SyntheticJob job(19, {.ranks = 4, .steps = 100, .max_offset_ns = offset_ns});
    const std::string all = OpscopeBytes(MergeAll(job.AllRanks()).trace).value();
    for (const int32_t again : {0, 3}) {
      SCOPED_TRACE(again);
      std::vector<MergeInput> inputs;
      inputs.push_back(job.Rank(again));
      inputs.push_back({ImportBytes(std::as_bytes(std::span(all)), "all.opscope").value(), "all.opscope", -1});
      const Merged merged = MergeAll(std::move(inputs));
      const std::string rank = std::to_string(again);
      EXPECT_EQ(ProblemText(merged.trace),
                "rank_doubled: files of a rank that another file covers were left out (job_rank" + rank +
                    ".opscope: rank " + rank + " is in all.opscope too)\n");
      EXPECT_EQ(merged.trace.spans().size(), 4u * 300u);
    }
  }
}

TEST(Merge, AddsTheRankThatAMergedFileMisses) {
  SyntheticJob job(21, {.ranks = 4, .steps = 100});
  for (const int32_t missing : {0, 2}) {
    SCOPED_TRACE(missing);
    std::vector<MergeInput> others;
    for (int32_t rank = 0; rank < 4; ++rank) {
      if (rank != missing) others.push_back(job.Rank(rank));
    }
    std::vector<MergeInput> inputs;
    inputs.push_back({MergeAll(std::move(others)).trace, "others.opscope", -1});
    inputs.push_back(job.Rank(missing));
    const Merged merged = MergeAll(std::move(inputs));
    EXPECT_EQ(ProblemText(merged.trace), "");
    EXPECT_EQ(merged.trace.spans().size(), 4u * 300u);
    EXPECT_EQ(merged.inputs[0].clock == ClockSource::kReference ? merged.inputs[1].clock : merged.inputs[0].clock,
              ClockSource::kCollectives);
    EXPECT_LE(merged.inputs[1].residual_p99_ns, kAllowedNs);
  }
}

TEST(Merge, MissesNoRankOfAFileThatWasMergedBefore) {
  SyntheticJob job(20, {.ranks = 4, .steps = 100});
  std::vector<MergeInput> inputs;
  inputs.push_back({MergeAll(job.AllRanks()).trace, "all.opscope", -1});
  EXPECT_EQ(ProblemText(MergeAll(std::move(inputs)).trace), "");
}

TEST(Merge, NamesARankOfAnotherJob) {
  SyntheticJob job(10, {.ranks = 4, .steps = 100}), larger(11, {.ranks = 16, .steps = 100});
  std::vector<MergeInput> inputs = job.AllRanks();
  inputs[3] = larger.Rank(3);
  inputs[3].name = "other.opscope";
  const Merged merged = MergeAll(std::move(inputs));
  auto problems = ProblemsOf(merged.trace);
  EXPECT_EQ(problems["other_job"], "files of another job were left out (other.opscope: of a job of 16 ranks, not 4)");
  EXPECT_EQ(problems["rank_missing"], "ranks of the job have no file (3)");
  EXPECT_LE(ResidualP99(merged, job), kAllowedNs);
}

TEST(Merge, NamesARankOfAnotherRunOfTheSameJob) {
  SyntheticJob job(12, {.ranks = 4, .steps = 100}), yesterday(13, {.ranks = 4, .steps = 100});
  std::vector<MergeInput> inputs = job.AllRanks();
  inputs[2] = yesterday.Rank(2);
  const Merged merged = MergeAll(std::move(inputs));
  EXPECT_EQ(
      ProblemsOf(merged.trace)["clock_not_aligned"],
      "times of files could not be compared through collectives (job_rank2.opscope: its collectives do not fit in "
      "time)");
  EXPECT_EQ(merged.inputs[2].clock, ClockSource::kWallClock);
}

TEST(Merge, TheOrderOfTheInputsChangesNothing) {
  const JobShape shape{.ranks = 6, .steps = 60};
  std::string first;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    SyntheticJob job(14, shape);
    std::vector<MergeInput> inputs = job.AllRanks();
    inputs.push_back(job.Rank(2, 10, 30));
    inputs.back().name = "again.opscope";
    if (seed > 0) std::shuffle(inputs.begin(), inputs.end(), std::mt19937_64(seed));
    const std::string dump = ToDebugText(MergeAll(std::move(inputs)).trace);
    if (seed == 0) first = dump;
    EXPECT_EQ(dump, first);
  }
}

TEST(Merge, ARankOfWhichAFileHasNoWallClockHasNoneInWhateverOrderItsFilesCome) {
  for (const bool is_first : {true, false}) {
    SyntheticJob job(15, {.ranks = 3, .steps = 60, .max_offset_ns = 1e6});
    SyntheticJob without_clock(15, {.ranks = 3, .steps = 90, .max_offset_ns = 1e6, .has_wall_clock = false});
    std::vector<MergeInput> inputs = job.AllRanks();
    MergeInput more = without_clock.Rank(2, 70, 80);
    more.name = "more.opscope";
    inputs.insert(is_first ? inputs.begin() : inputs.end(), std::move(more));
    const Merged merged = MergeAll(std::move(inputs));
    const size_t of_rank_2 = is_first ? 3 : 2;
    EXPECT_NE(merged.inputs[of_rank_2].clock, ClockSource::kWallClock) << is_first;
  }
}

TEST(Merge, FilesOfOneRankThatFollowEachOtherArePartsOfIt) {
  SyntheticJob job(15, {.ranks = 2, .steps = 200});
  std::vector<MergeInput> inputs;
  for (int32_t rank = 0; rank < 2; ++rank) {
    inputs.push_back(job.Rank(rank, 0, 80));
    inputs.push_back(job.Rank(rank, 100, 200));
  }
  const Merged merged = MergeAll(std::move(inputs));
  EXPECT_EQ(ProblemText(merged.trace), "");
  EXPECT_EQ(merged.trace.spans().size(), 2u * 180u * 3u);
  EXPECT_LE(ResidualP99(merged, job), kAllowedNs);
}

TEST(Merge, RanksThatMeetOnlyThroughOthersAreAligned) {
  // Ranks 0 and 1 share one group, 1 and 2 another.
  TraceBuilder builders[3];
  for (int rank = 0; rank < 3; ++rank) {
    TraceBuilder& builder = builders[rank];
    builder.info().epoch_ns = SyntheticJob::kEpochNs;
    builder.info().world_size = 3;
    const ProcessId process = builder.AddProcess({.pid = rank, .rank = rank});
    const TrackId stream = builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream});
    std::mt19937_64 random(16);
    int64_t now = 0;
    for (int i = 0; i < 100; ++i) {
      now += 5'000'000 + static_cast<int64_t>(random() % 1'000'000);
      const int group = i % 2;
      if (rank != group && rank != group + 1) continue;
      const StringId extra = builder.Intern("\"Process Group Name\": \"" + std::to_string(group) + "\"");
      builder.AddSpan({.start = {now + rank * 1'000'000},
                       .name = builder.Intern("ncclKernel_AllReduce_RING"),
                       .track = stream,
                       .extra = extra});
    }
  }
  std::vector<MergeInput> inputs;
  for (TraceBuilder& builder : builders)
    inputs.push_back({builder.Build(), "x", -1});
  const Merged merged = MergeAll(std::move(inputs));
  EXPECT_EQ(merged.inputs[1].clock, ClockSource::kReference) << "it has the most sync points";
  EXPECT_EQ(merged.inputs[0].offset_ns, 1'000'000);
  EXPECT_EQ(merged.inputs[2].offset_ns, -1'000'000);
}

TEST(Merge, SpansThatTheUserNamesAreSyncPointsToo) {
  JobShape shape{.ranks = 2, .steps = 200, .says_rank = false};
  SyntheticJob job(17, shape);
  std::vector<MergeInput> inputs = job.AllRanks();
  for (MergeInput& input : inputs) {  // without the kernels: only the marker is left
    TraceBuilder builder;
    builder.info() = input.trace.info();
    const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1})});
    const SpanColumns& spans = input.trace.spans();
    for (size_t row = 0; row < spans.size(); ++row) {
      if (input.trace.text(spans.name[row]) != "marker") continue;
      builder.AddSpan({.start = spans.start[row],
                       .duration = spans.duration[row],
                       .name = builder.Intern("marker"),
                       .track = track,
                       .sequence = spans.sequence[row]});
    }
    input.trace = builder.Build();
  }
  const Merged merged = MergeAll(std::move(inputs), {.sync_names = {"marker"}});
  EXPECT_EQ(merged.inputs[1].rank, 1) << "from the name";
  EXPECT_TRUE(merged.inputs[1].rank_is_from_name);
  EXPECT_EQ(merged.inputs[1].sync_points, 200u);
  EXPECT_LE(ResidualP99(merged, job), kAllowedNs);
}

TEST(Merge, RanksStayApart) {
  SyntheticJob job(18, {.ranks = 3, .steps = 20});
  const Merged merged = MergeAll(job.AllRanks());
  const Trace& trace = merged.trace;
  std::map<int64_t, int32_t> rank_of_pid;
  for (size_t i = 0; i < trace.processes().size(); ++i)
    EXPECT_TRUE(rank_of_pid.emplace(trace.processes().pid[i], trace.processes().rank[i]).second) << "a pid twice";
  std::map<uint32_t, int32_t> rank_of_correlation;
  for (size_t row = 0; row < trace.spans().size(); ++row) {
    const uint32_t correlation = trace.spans().correlation[row];
    if (correlation == 0) continue;
    EXPECT_TRUE(rank_of_correlation.emplace(correlation, RankOfSpan(trace, row)).second);
  }
}

TEST(Merge, RanksAreStillKnownInTheFilesThatAreWritten) {
  SyntheticJob job(19, {.ranks = 3, .steps = 20});
  const Merged merged = MergeAll(job.AllRanks());
  for (const Result<std::string>& bytes : {OpscopeBytes(merged.trace), ChromeTraceText(merged.trace)}) {
    ASSERT_TRUE(bytes.ok());
    const Result<Trace> again = ImportBytes(std::as_bytes(std::span(bytes.value())), "again");
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again.value().info().world_size, 3u);
    std::map<int32_t, int> spans_of_rank;
    for (size_t row = 0; row < again.value().spans().size(); ++row)
      ++spans_of_rank[RankOfSpan(again.value(), row)];
    EXPECT_EQ(spans_of_rank[0], 60);
    EXPECT_EQ(spans_of_rank[1], 60);
    EXPECT_EQ(spans_of_rank[2], 60);
  }
}

TEST(Merge, OfNothingIsAnError) {
  EXPECT_EQ(MergeTraces({}).error().message, "nothing to merge");
}

TEST(Merge, FindsARankInAName) {
  EXPECT_EQ(RankFromName("a/rank3.json"), 3);
  EXPECT_EQ(RankFromName("rank1/x_rank_12.json.gz"), 12);
  EXPECT_EQ(RankFromName("rank-007"), 7);
  EXPECT_EQ(RankFromName("frank.rank5"), 5);
  EXPECT_EQ(RankFromName("rank99999999999"), -1);
  EXPECT_EQ(RankFromName("rank3/x.json"), -1);
}

}  // namespace
}  // namespace opscope
