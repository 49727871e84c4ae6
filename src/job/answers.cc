// Runs the SQL of a question, and puts rows, problems and quality together. The SQL files of one question share their
// views, which the engine computes once. Problems are those that collect stored with each file, and those that show
// only in the whole job, such as a missing rank.
//
// Example: `opscope ranks` runs problems.sql and ranks.sql, and asks their views for the world size and the mean step.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <utility>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
#include "base/json_object.h"
#include "job/critical_ranks.h"
#include "job/job_attempt.h"
#include "job/job_overview_parts.h"
#include "opscope/report/job_answers.h"
#include "opscope/report/job_overview.h"
#include "opscope/report/job_report.h"
#include "opscope/report/steps.h"
#include "trace/builder.h"

namespace opscope {
namespace {

std::string ListJson(const std::vector<int64_t>& numbers) {
  std::string text = "[";
  for (const int64_t number : numbers)
    text.append(text.size() == 1 ? "" : ",").append(std::to_string(number));
  return text + "]";
}

std::string NumberOrNull(std::optional<int64_t> number) {
  return number ? std::to_string(*number) : "null";
}

constexpr char kRankFacts[] =
    "SELECT (SELECT MAX(job_size) FROM job_judged_files) AS world_size, (SELECT MIN(start_ns) FROM job_judged_files "
    "WHERE fault IS NULL AND spans > 0) AS epoch_ns, (SELECT mean_step_ns FROM job_length) AS mean_step_ns";

// The answers fill `overview` too, with the values by row that it has beside the tables; nullptr: only the answer is
// wanted.
Result<VerbResult> AnswerRanks(JobAttempt* job, JobOverview* overview = nullptr) {
  OPSCOPE_ASSIGN(const RowValues rows, job->RunFile("ranks.sql"));
  if (overview != nullptr) ReadRankRows(rows, overview);
  OPSCOPE_ASSIGN(const RowValues facts, job->Query(kRankFacts));
  const int64_t world_size = facts.Integer(0, "world_size").value_or(0);
  const std::vector<int64_t> missing = job->MissingRanks();
  if (overview != nullptr) overview->world_size = world_size;
  VerbResult result;
  result.tables = {rows.Table(RankResult())};
  JsonMemberWriter writer(&result.facts_json);
  writer.Int("attempt", job->number()).Json("attempts", ListJson(job->numbers())).Int("world_size", world_size);
  writer.Json("missing_ranks", ListJson(missing));
  writer.Text("epoch_ns", std::to_string(facts.Integer(0, "epoch_ns").value_or(0)));
  writer.Json("mean_step_ns", NumberOrNull(facts.Integer(0, "mean_step_ns")));
  if (!missing.empty())
    result.note = std::to_string(missing.size()) + " of " + std::to_string(world_size) + " ranks have no file\n";
  return result;
}

Result<VerbResult> AnswerCollectives(JobAttempt* job, bool with_members) {
  OPSCOPE_ASSIGN(const RowValues rows, job->RunFile("collectives.sql"));
  OPSCOPE_ASSIGN(const RowValues groups, job->RunFile("collective_groups.sql"));
  VerbResult result;
  result.tables = {rows.Table(JobCollectiveResult()), groups.Table(CollectiveGroupResult())};
  result.shown = {1};
  if (rows.size() == 0) result.why_empty = "no collective has a counterpart on another rank";
  if (!with_members) return result;
  OPSCOPE_ASSIGN(const RowValues members, job->RunFile("collective_members.sql"));
  std::vector<uint32_t> first = {0};
  size_t member = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    while (member < members.size() && members.Text(member, "group_key") == rows.Text(row, "group_key") &&
           members.Integer(member, "number") == rows.Integer(row, "number"))
      ++member;
    first.push_back(static_cast<uint32_t>(member));
  }
  result.tables[0].Nest(members.Table(CollectiveMemberResult()), first);
  return result;
}

Result<VerbResult> AnswerStragglers(JobAttempt* job, JobOverview* overview = nullptr) {
  OPSCOPE_ASSIGN(const RowValues rows, job->RunFile("stragglers.sql"));
  if (overview != nullptr) ReadStragglerRows(rows, overview);
  OPSCOPE_ASSIGN(const RowValues length, job->Query("SELECT steps, mean_step_ns FROM job_length"));
  VerbResult result;
  result.tables = {rows.Table(StragglerResult())};
  const bool has_steps = length.size() > 0;
  const int64_t steps = has_steps ? length.Integer(0, "steps").value_or(0) : 0;
  const std::optional<int64_t> mean = has_steps ? length.Integer(0, "mean_step_ns") : std::nullopt;
  JsonMemberWriter(&result.facts_json).Int("steps", steps).Json("mean_step_ns", NumberOrNull(mean));
  if (rows.size() > 0) return result;
  OPSCOPE_ASSIGN(const RowValues matched,
                 job->Query("SELECT COUNT(*) AS matched FROM job_matches WHERE is_synchronising"));
  result.why_empty = WhyNoStragglers(mean, matched.Integer(0, "matched").value_or(0) > 0);
  return result;
}

Result<VerbResult> AnswerSummary(JobAttempt* job, bool is_exact) {
  OPSCOPE_ASSIGN(const RowValues rows, job->RunFile(is_exact ? "exact_quantiles.sql" : "quantiles.sql"));
  VerbResult result;
  result.tables = {rows.Table(JobSummaryResult())};
  JsonMemberWriter(&result.facts_json).Text("quantiles_from", is_exact ? "spans" : "op_stats");
  if (rows.size() == 0) result.why_empty = "it has no spans";
  return result;
}

Result<VerbResult> AnswerSteps(JobAttempt* job) {
  TraceBuilder names;
  StepReport report;
  OPSCOPE_TRY(job->StreamFile("steps.sql", [&](const RowValues& rows) {  // one per rank and step
    const auto number = [&](size_t row, std::string_view column) { return rows.Integer(row, column).value_or(0); };
    for (size_t i = 0; i < rows.size(); ++i) {
      report.rows.push_back({.rank = static_cast<int32_t>(number(i, "rank")),
                             .number = number(i, "step"),
                             .name = names.Intern(rows.Text(i, "name")),
                             .start_ns = number(i, "start_ns"),
                             .duration_ns = number(i, "duration_ns"),
                             .compute_ns = number(i, "compute_ns"),
                             .communication_ns = number(i, "communication_ns"),
                             .copy_ns = number(i, "copy_ns"),
                             .input_ns = number(i, "input_ns"),
                             .host_ns = number(i, "host_ns"),
                             .other_ns = number(i, "other_ns"),
                             .idle_ns = number(i, "idle_ns")});
    }
  }));
  report.durations = MeasureStepDurations(report.rows);
  VerbResult result = StepsVerbResult(names.Build(), report);
  if (report.rows.empty()) result.why_empty = "it has no steps";
  return result;
}

// The rows of the four files that the walk needs.
Result<CriticalRanks> WalkCriticalPath(JobAttempt* job) {
  CriticalRanksInput input;
  OPSCOPE_ASSIGN(const RowValues ranks, job->RunFile("critical_rank_bounds.sql"));
  const auto number = [](const RowValues& rows, size_t row, std::string_view column) {
    return rows.Integer(row, column).value_or(0);
  };
  const auto small = [&](const RowValues& rows, size_t row, std::string_view column) {
    return static_cast<int32_t>(number(rows, row, column));
  };
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::optional<int64_t> end = ranks.Integer(i, "end_ns");
    input.ranks.push_back({small(ranks, i, "rank"), number(ranks, i, "begin_ns"), end.value_or(0), end.has_value()});
  }
  OPSCOPE_TRY(job->StreamFile("critical_members.sql", [&](const RowValues& rows) {  // one per rank and collective
    for (size_t i = 0; i < rows.size(); ++i) {
      input.members.push_back({small(rows, i, "collective"), small(rows, i, "ri"), number(rows, i, "start_ns"),
                               number(rows, i, "duration_ns"), rows.Integer(i, "gap_ns").value_or(-1)});
    }
  }));
  OPSCOPE_ASSIGN(const RowValues steps, job->RunFile("critical_steps.sql"));
  for (size_t i = 0; i < steps.size(); ++i) {
    input.steps.push_back({small(steps, i, "ri"), number(steps, i, "step"), number(steps, i, "start_ns"),
                           number(steps, i, "duration_ns")});
  }
  return FindCriticalRanks(std::move(input));
}

Result<VerbResult> AnswerCriticalRanks(JobAttempt* job, JobOverview* overview = nullptr) {
  OPSCOPE_ASSIGN(const CriticalRanks path, WalkCriticalPath(job));
  if (overview != nullptr) ReadCriticalPath(path, overview);
  OPSCOPE_ASSIGN(const RowValues near, job->RunFile("critical_near.sql"));
  std::map<int64_t, int64_t> near_ranks;
  for (size_t i = 0; i < near.size(); ++i)
    near_ranks[near.Integer(i, "step").value_or(0)] = near.Integer(i, "near_ranks").value_or(0);
  VerbResult result;
  ResultTable ranks(CriticalRankResult()), steps(CriticalRankStepResult());
  const auto add = [](ResultTable* table, const auto& rows, auto... values) {
    size_t column = 0;
    (table->Add(table->description().columns[column++], rows, values), ...);
  };
  using Rank = CriticalRanks::Rank;
  using Step = CriticalRanks::Step;
  const double length = path.length_ns > 0 ? static_cast<double>(path.length_ns) : 1;
  add(
      &ranks, path.ranks, [](const Rank& row) { return ResultValue(row.rank); },
      [](const Rank& row) { return ResultValue(row.critical_ns); },
      [=](const Rank& row) { return ResultValue(static_cast<double>(row.critical_ns) / length); },
      [](const Rank& row) { return ResultValue(row.steps); }, [](const Rank& row) { return ResultValue(row.saved_ns); },
      [](const Rank& row) { return ResultValue(row.excess_ns); });
  add(
      &steps, path.steps, [](const Step& row) { return ResultValue(row.step); },
      [](const Step& row) { return ResultValue(row.length_ns); }, [](const Step& row) { return ResultValue(row.rank); },
      [&](const Step& row) { return ResultValue(near_ranks[row.step]); });
  result.tables = {std::move(ranks), std::move(steps)};
  JsonMemberWriter(&result.facts_json)
      .Int("length_ns", path.length_ns)
      .Int("what_if_ns", path.what_if_ns)
      .Int("balanced_ns", path.balanced_ns);
  if (path.ranks.empty()) result.why_empty = "it has no steps";
  return result;
}

}  // namespace

Result<JobAnswer> AnswerJob(std::string_view verb, JobEngine* engine, const JobQuestion& question) {
  return CatchBadAlloc("", [&]() -> Result<JobAnswer> {
    JobAttempt job(engine);
    OPSCOPE_TRY(job.Choose(question.attempt));
    // Clocks are compared where the answer has times of several ranks: that reads all collectives once more.
    const bool compares_clocks = verb == "ranks" || verb == "collectives";
    OPSCOPE_TRY(job.FindProblems(compares_clocks ? "problems.sql" : "file_problems.sql"));
    OPSCOPE_ASSIGN(VerbResult result,
                   verb == "ranks"         ? AnswerRanks(&job)
                   : verb == "collectives" ? AnswerCollectives(&job, question.with_members)
                   : verb == "stragglers"  ? AnswerStragglers(&job)
                   : verb == "summary"     ? AnswerSummary(&job, question.is_exact)
                   : verb == "steps"       ? AnswerSteps(&job)
                   : verb == "critical-ranks"
                       ? AnswerCriticalRanks(&job)
                       : Result<VerbResult>(Error{ErrorCode::kInvalidArgument,
                                                  "there is no answer over a JOB named " + std::string(verb)}));
    return job.Complete(std::move(result));
  });
}

Result<JobOverview> AnswerJobOverview(JobEngine* engine, std::optional<int32_t> attempt) {
  return CatchBadAlloc("", [&]() -> Result<JobOverview> {
    JobAttempt job(engine);
    OPSCOPE_TRY(job.Choose(attempt));
    OPSCOPE_TRY(job.FindProblems("problems.sql"));
    JobOverview overview;
    overview.attempt = job.number();
    overview.attempts = job.numbers();
    overview.missing_ranks = job.MissingRanks();
    OPSCOPE_ASSIGN(overview.ranks, AnswerRanks(&job, &overview));
    OPSCOPE_ASSIGN(overview.stragglers, AnswerStragglers(&job, &overview));
    OPSCOPE_ASSIGN(overview.critical_ranks, AnswerCriticalRanks(&job, &overview));
    OPSCOPE_ASSIGN(const RowValues groups, job.RunFile("collective_groups.sql"));
    overview.collectives.tables = {groups.Table(CollectiveGroupResult())};
    OPSCOPE_TRY(MeasureStepHeatMaps(job.sql(), &overview));
    OPSCOPE_ASSIGN(JobCondition condition, job.Condition());
    overview.quality = std::move(condition.quality);
    overview.problems = std::move(condition.problems);
    return overview;
  });
}

}  // namespace opscope
