// One attempt of a JOB, behind an engine: the rows that its files of SQL give, its problems, and how far its data can
// be trusted. The files of SQL share their views, which the engine computes once.
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

  // nullopt: the largest number. kInvalidArgument: there is no such attempt. Comes before all that follows.
  [[nodiscard]] Status Choose(std::optional<int32_t> wanted);

  // The rows of a SELECT.
  [[nodiscard]] Result<RowValues> Query(const std::string& select);
  // The rows of a file of src/job/sql.
  [[nodiscard]] Result<RowValues> RunFile(const std::string& file);
  // Likewise, but hands them over in parts, which together may be too many to be in memory at once.
  [[nodiscard]] Status StreamFile(const std::string& file, const std::function<void(const RowValues& rows)>& use);

  // Keeps the problems that collect stored with each file, and those that show in the whole job alone, such as a
  // missing rank: the rows of `file`.
  [[nodiscard]] Status FindProblems(const std::string& file);
  // By these problems, and by what the files say of themselves.
  [[nodiscard]] Result<Quality> Judge();
  // Those of FindProblems.
  std::vector<int64_t> MissingRanks() const;
  void AddProblem(JobProblem problem) { problems_.push_back(std::move(problem)); }
  // The result with its problems and its quality.
  [[nodiscard]] Result<JobAnswer> Complete(VerbResult result);

  int32_t number() const { return number_; }
  const std::vector<int64_t>& numbers() const { return numbers_; }  // of all attempts
  const std::vector<JobProblem>& problems() const { return problems_; }
  JobSqlRunner* sql() { return sql_.get(); }

 private:
  void AddJobProblem(const RowValues& rows, size_t row);

  JobEngine& engine_;
  std::vector<int64_t> numbers_;
  int32_t number_ = 0;
  std::unique_ptr<JobSqlRunner> sql_;
  std::vector<JobProblem> problems_;
};

}  // namespace opscope
