// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/job.h"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "opscope/report/control.h"
#include "opscope/report/job_answers.h"

namespace opscope {
namespace {

JobProblem ProblemOf(const std::string& kind, int32_t rank, ProblemSeverity severity = ProblemSeverity::kDataLoss) {
  JobProblem problem;
  problem.kind = kind;
  problem.severity = severity;
  problem.ranks = {rank};
  return problem;
}

TEST(JobQuality, HasAReasonPerKindWithItsFirstRanks) {
  std::vector<JobProblem> problems = {ProblemOf("truncated", 7),
                                      ProblemOf("rank_disagrees", 3, ProblemSeverity::kInfo)};
  for (int32_t rank = 9999; rank >= 0; --rank)
    problems.push_back(ProblemOf("dropped_at_cap", rank));
  const Quality quality = JudgeProblems(problems);
  EXPECT_EQ(quality.verdict, Verdict::kDoubtful);
  EXPECT_EQ(quality.reasons, (std::vector<std::string>{"problem truncated of rank 7",
                                                       "problem dropped_at_cap of rank 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, "
                                                       "10, 11, 12, 13, 14, 15, 16, 17, 18, 19 and 9980 more"}));
}

TEST(JobQuality, IsGoodWithoutALoss) {
  const std::vector<JobProblem> problems = {ProblemOf("several_attempts", 0, ProblemSeverity::kInfo)};
  EXPECT_EQ(JudgeProblems(problems).verdict, Verdict::kGood);
  EXPECT_TRUE(JudgeProblems(problems).reasons.empty());
}

TEST(JobQuality, OfADamagedJobWithAnyNumberOfKindsHasFewReasons) {
  std::vector<JobProblem> problems;
  for (int32_t i = 0; i < 100'000; ++i)
    problems.push_back(ProblemOf("kind" + std::to_string(i), 0));
  EXPECT_EQ(JudgeProblems(problems).reasons.size(), 20u);
}

TEST(CollectResult, NothingIsKnownOfARefusedFile) {
  CollectReport report;
  report.files = {{.file = "a.json", .host = {}, .sha256 = "00", .refusal = "a.json: no trace"}};
  const std::string json = ResultJson(CollectVerbResult(report, "job"), std::span<const ResultInput>());
  EXPECT_NE(json.find(R"({"file":"a.json","status":"refused","rank":null,"rank_from":null,"attempt":null,)"
                      R"("world_size":null,"host":null,"spans":null,"sha256":"00"})"),
            std::string::npos)
      << json;
  report.files[0].status = CollectStatus::kAdded;
  const std::string added = ResultJson(CollectVerbResult(report, "job"), std::span<const ResultInput>());
  EXPECT_NE(added.find(R"("rank":-1,"rank_from":"none","attempt":0,"world_size":-1,"host":null,"spans":0,)"),
            std::string::npos)
      << added;
}

TEST(RecordedResult, ARankWithoutAProcessHasNoHostAndNoFile) {
  RecordReport report;
  report.rows = {{.rank = 7, .why_not = "there is no process of this rank"}, {.host = "node1", .pid = 5, .file = "f"}};
  const std::string json = ResultJson(RecordedVerbResult(report), std::span<const ResultInput>());
  EXPECT_NE(json.find(R"({"rank":7,"host":null,"pid":null,"status":"failed","file":null,)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"({"rank":-1,"host":"node1","pid":5,"status":"failed","file":"f",)"), std::string::npos) << json;
}

TEST(JobAnswers, NoStragglersIsSaidWithWhatIsKnown) {
  EXPECT_EQ(WhyNoStragglers(std::nullopt, false), "it has no steps");
  EXPECT_EQ(WhyNoStragglers(1'500'000, false),
            "no collective has a counterpart on another rank, so who makes the others wait is unknown");
  EXPECT_EQ(WhyNoStragglers(1'500'000, true),
            "no rank makes the others wait for 2 % of the mean step (1.500 ms) or more");
}

}  // namespace
}  // namespace opscope
