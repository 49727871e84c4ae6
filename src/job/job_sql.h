// Runs the SQL of the analyses, one file of src/job/sql for each.
//
//   -- @include matching.sql      runs the CREATEs of that file first, once
//   -- @materialise               makes the next CREATE a table
//   CREATE OR REPLACE TEMPORARY VIEW x AS SELECT ...;
//   SELECT ...;                   the last statement: the answer
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/job_engine.h"
#include "opscope/result.h"

namespace opscope {

// One statement of a file.
struct JobStatement {
  std::string include;  // another file, to run first; "": none
  std::string view;     // the view that a CREATE makes; "": the SELECT of the answer
  std::string select;
  bool is_kept = false;
};

// The statements of a file in their order. REQUIRES: the text is one of opscope's own files.
[[nodiscard]] std::vector<JobStatement> SplitJobSql(std::string_view text);

// Runs files of one JOB, each include once.
class JobSqlRunner {
 public:
  // parameters: the number replaces {{name}}.
  JobSqlRunner(JobEngine* engine, std::map<std::string, int64_t> parameters)
      : engine_(engine), parameters_(std::move(parameters)) {}

  // Adds a parameter for files that run from now on.
  void Set(const std::string& name, int64_t number) { parameters_[name] = number; }

  // The rows of a file's last statement. kInvalidArgument: the name of the file and the engine's message.
  [[nodiscard]] Result<JobRows> Run(const std::string& file);
  // The same, but passes the rows on as JobEngine::Stream does.
  [[nodiscard]] Status Stream(const std::string& file, const JobEngine::UseRows& use);

 private:
  // Defines the views of the file; returns the SELECT of its answer.
  Result<std::string> Prepare(const std::string& file);
  Status Include(const std::string& file);
  std::string Filled(std::string text) const;

  JobEngine* const engine_;
  std::map<std::string, int64_t> parameters_;
  std::set<std::string> included_;
};

// Text of the file, such as "ranks.sql". REQUIRES: it exists.
[[nodiscard]] std::string_view JobSqlFile(std::string_view file);

}  // namespace opscope
