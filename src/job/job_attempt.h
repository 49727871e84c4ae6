// One attempt of a JOB, queried through an engine: the rows of SQL files, the problems, and the quality of the data.
// The SQL files share their views, which the engine computes once.
//
//   JobAttempt job(engine);
//   OPSCOPE_TRY(job.Choose({}));                         the latest one
//   OPSCOPE_TRY(job.FindProblems("file_problems.sql"));
//   const Result<RowValues> rows = job.RunFile("ranks.sql");
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "job/job_sql.h"
#include "job/row_values.h"
#include "opscope/analysis/quality.h"
#include "opscope/job_engine.h"
#include "opscope/report/job_report.h"

namespace opscope {

class JobAttempt {
 public:
  explicit JobAttempt(JobEngine* engine) : engine_(*engine) {}

  // Chooses the attempt; nullopt: the one with the largest number. kInvalidArgument: no such attempt. REQUIRES: called
  // before the following functions.
  [[nodiscard]] Status Choose(std::optional<int32_t> wanted);

  // The rows of a SELECT.
  [[nodiscard]] Result<RowValues> Query(const std::string& select);
  // The rows of a file of src/job/sql.
  [[nodiscard]] Result<RowValues> RunFile(const std::string& file);
  // The same, but passes the rows on in parts, because all of them may not fit into memory.
  [[nodiscard]] Status StreamFile(const std::string& file, const std::function<void(const RowValues& rows)>& use);

  // Loads the problems that `collect` stored with each file, and the problems of the whole job, such as a missing rank,
  // which are the rows of `file`.
  [[nodiscard]] Status FindProblems(const std::string& file);
  // These problems, and the quality by them and by the metadata of the files.
  [[nodiscard]] Result<JobCondition> Condition();
  // The problems that FindProblems has loaded.
  std::vector<int64_t> MissingRanks() const;
  void AddProblem(JobProblem problem) { problems_.push_back(std::move(problem)); }
  // The result with its problems and its quality.
  [[nodiscard]] Result<JobAnswer> Complete(VerbResult result);

  int32_t number() const { return number_; }
  const std::vector<int64_t>& numbers() const { return numbers_; }  // numbers of all attempts
  const std::vector<JobProblem>& problems() const { return problems_; }
  JobSqlRunner* sql() { return sql_.get(); }

 private:
  Result<Quality> Judge();
  void AddJobProblem(const RowValues& rows, size_t row);

  JobEngine& engine_;
  std::vector<int64_t> numbers_;
  int32_t number_ = 0;
  std::unique_ptr<JobSqlRunner> sql_;
  std::vector<JobProblem> problems_;
};

}  // namespace opscope
