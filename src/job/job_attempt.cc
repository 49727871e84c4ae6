// Chooses the attempt, runs the SQL, and finds the problems of a JOB.
//
// Example: a JOB with the attempts 0 and 1, whose world size is 4, has files of the ranks 0, 1 and 3 in attempt 1: that
// is chosen, and `rank_missing` names rank 2.
// SPDX-License-Identifier: Apache-2.0
#include "job/job_attempt.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
#include "job/job_problems.h"
#include "job/shared_reasons.h"
#include "opscope/report/job.h"

namespace opscope {
namespace {

constexpr int64_t kClockWindowNs = 10'000'000'000;

ProblemSeverity SeverityOf(const std::string& name) {
  return ProblemSeverityFromName(name).value_or(ProblemSeverity::kError);
}

std::string SentenceOf(const std::string& kind) {
  static const std::map<std::string_view, std::string_view> sentences = {
      {"other_job", "the file's world size is not that of the job; it is left out"},
      {"rank_doubled", "another file of the rank has the same time and as many spans or more; this one is left out"},
      {"rank_missing", "ranks below the world size have no file"},
      {"clock_not_aligned", "the collectives of a rank contradict each other, so its clock is not aligned"},
  };
  const auto found = sentences.find(kind);
  return found == sentences.end() ? kind : std::string(found->second);
}

}  // namespace

Status JobAttempt::Choose(std::optional<int32_t> wanted) {
  OPSCOPE_ASSIGN(const RowValues rows, Query("SELECT DISTINCT attempt FROM ranks ORDER BY attempt"));
  for (size_t i = 0; i < rows.size(); ++i)
    numbers_.push_back(rows.Integer(i, "attempt").value_or(0));
  if (numbers_.empty()) return Error{ErrorCode::kInvalidArgument, "the JOB has no files"};
  OPSCOPE_ASSIGN(number_, ChooseFrom({numbers_.begin(), numbers_.end()}, wanted));
  sql_ = std::make_unique<JobSqlRunner>(
      &engine_, std::map<std::string, int64_t>{{"attempt", number_}, {"window_ns", kClockWindowNs}});
  return {};
}

Result<RowValues> JobAttempt::Query(const std::string& select) {
  OPSCOPE_ASSIGN(const JobRows rows, engine_.Query(select));
  return RowValues::Parse(rows);
}

Result<RowValues> JobAttempt::RunFile(const std::string& file) {
  OPSCOPE_ASSIGN(JobRows rows, sql_->Run(file));
  for (std::string& column : rows.columns) {  // "set" and "group" are words of SQL
    if (column == "set_kind") column = "set";
    if (column == "group_name") column = "group";
  }
  return RowValues::Parse(rows);
}

Status JobAttempt::StreamFile(const std::string& file, const std::function<void(const RowValues& rows)>& use) {
  return sql_->Stream(file, [&](const JobRows& rows) -> Status {
    OPSCOPE_ASSIGN(const RowValues values, RowValues::Parse(rows));
    use(values);
    return {};
  });
}

Status JobAttempt::FindProblems(const std::string& file) {
  const std::string of_attempt = " WHERE attempt = " + std::to_string(number_);
  OPSCOPE_ASSIGN(const RowValues rows,
                 Query("SELECT file, kind, severity, message, count, first_offset, rank FROM problems" + of_attempt +
                       " ORDER BY rank, file, kind, message"));
  for (size_t i = 0; i < rows.size(); ++i) {
    problems_.push_back({rows.Text(i, "file"),
                         rows.Text(i, "kind"),
                         SeverityOf(rows.Text(i, "severity")),
                         static_cast<uint64_t>(rows.Integer(i, "count").value_or(1)),
                         rows.Integer(i, "first_offset").value_or(-1),
                         rows.Text(i, "message"),
                         {static_cast<int32_t>(rows.Integer(i, "rank").value_or(-1))}});
  }
  OPSCOPE_ASSIGN(const RowValues of_job, RunFile(file));
  for (size_t i = 0; i < of_job.size(); ++i)
    AddJobProblem(of_job, i);
  for (JobProblem& problem : problems_)
    if (problem.kind == "several_attempts") problem = SeveralAttempts({numbers_.begin(), numbers_.end()}, number_);
  if (std::optional<JobProblem> many = ManyParts(engine_.parts())) problems_.push_back(std::move(*many));
  return {};
}

Result<Quality> JobAttempt::Judge() {
  Quality quality = JudgeProblems(problems_);
  OPSCOPE_ASSIGN(const RowValues verdicts,
                 Query("SELECT rank, verdict, reasons FROM ranks WHERE verdict > 0 AND attempt = " +
                       std::to_string(number_) + " ORDER BY rank, reasons"));
  std::set<std::string> known;  // reasons that JudgeProblems has given
  for (const JobProblem& problem : problems_)
    if (problem.severity != ProblemSeverity::kInfo) known.insert("problem " + problem.kind);
  SharedReasons shared;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const int64_t verdict = verdicts.Integer(i, "verdict").value_or(0);
    quality.verdict = std::max(quality.verdict, static_cast<Verdict>(std::clamp<int64_t>(verdict, 0, 2)));
    const int64_t rank = verdicts.Integer(i, "rank").value_or(-1);
    const std::string reasons = verdicts.Text(i, "reasons");  // one a line
    for (size_t begin = 0; begin < reasons.size();) {
      const size_t end = std::min(reasons.find('\n', begin), reasons.size());
      const std::string line = reasons.substr(begin, end - begin);
      if (!known.contains(line.substr(0, line.find(" (")))) shared.Add(rank, line);
      begin = end + 1;
    }
  }
  for (std::string& reason : shared.Texts())
    quality.reasons.push_back(std::move(reason));
  return quality;
}

Result<JobAnswer> JobAttempt::Complete(VerbResult result) {
  OPSCOPE_ASSIGN(JobCondition condition, Condition());
  return CompleteAnswer(std::move(result), std::move(condition));
}

Result<JobCondition> JobAttempt::Condition() {
  OPSCOPE_ASSIGN(Quality quality, Judge());
  return JobCondition{problems_, std::move(quality)};
}

uint64_t JobCondition::losses() const {
  return static_cast<uint64_t>(std::count_if(problems.begin(), problems.end(), [](const JobProblem& problem) {
    return problem.severity != ProblemSeverity::kInfo;
  }));
}

void JobCondition::Append(const std::string& name, const JobCondition& more) {
  for (const JobProblem& problem : more.problems) {
    problems.push_back(problem);
    if (problem.file.empty()) problems.back().file = name;
  }
  quality.verdict = std::max(quality.verdict, more.quality.verdict);
  for (const std::string& reason : more.quality.reasons)
    quality.reasons.push_back(name.empty() ? reason : name + ": " + reason);
}

JobAnswer CompleteAnswer(VerbResult result, JobCondition condition) {
  result.problems_json = JobProblemsJson(condition.problems);
  result.quality = std::move(condition.quality);
  return {std::move(result), std::move(condition.problems)};
}

std::vector<int64_t> JobAttempt::MissingRanks() const {
  std::vector<int64_t> ranks;
  for (const JobProblem& problem : problems_)
    if (problem.kind == "rank_missing") ranks.insert(ranks.end(), problem.ranks.begin(), problem.ranks.end());
  return ranks;
}

// Rows of equal kind and file are one problem.
void JobAttempt::AddJobProblem(const RowValues& rows, size_t row) {
  const std::string kind = rows.Text(row, "kind"), file = rows.Text(row, "file");
  JobProblem* last = problems_.empty() ? nullptr : &problems_.back();
  if (last == nullptr || last->kind != kind || last->file != file) {
    problems_.push_back({.file = file,
                         .kind = kind,
                         .severity = SeverityOf(rows.Text(row, "severity")),
                         .count = 0,
                         .message = SentenceOf(kind),
                         .ranks = {}});
    last = &problems_.back();
  }
  ++last->count;
  if (const std::optional<int64_t> rank = rows.Integer(row, "rank")) last->ranks.push_back(static_cast<int32_t>(*rank));
}

Result<JobCondition> FindJobCondition(JobEngine* engine, std::optional<int32_t> attempt) {
  return CatchBadAlloc("", [&]() -> Result<JobCondition> {
    JobAttempt chosen(engine);
    OPSCOPE_TRY(chosen.Choose(attempt));
    OPSCOPE_TRY(chosen.FindProblems("file_problems.sql"));
    return chosen.Condition();
  });
}

}  // namespace opscope
