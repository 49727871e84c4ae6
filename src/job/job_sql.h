// The SQL of the analyses: src/job/sql, one file each.
//
//   -- @include matching.sql      the CREATEs of that file come first, once
//   -- @materialise               the rows of the next CREATE are kept
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
  std::string view;     // what a CREATE makes; "": this is the SELECT of the answer
  std::string select;
  bool is_kept = false;
};

// In their order. REQUIRES: the text is one of opscope's own.
[[nodiscard]] std::vector<JobStatement> SplitJobSql(std::string_view text);

// Runs files of one JOB, each include once.
class JobSqlRunner {
 public:
  // parameters: {{name}} is replaced by the number.
  JobSqlRunner(JobEngine* engine, std::map<std::string, int64_t> parameters)
      : engine_(engine), parameters_(std::move(parameters)) {}

  // One more parameter, for files that run from now on.
  void Set(const std::string& name, int64_t number) { parameters_[name] = number; }

  // The rows of a file's last statement. kInvalidArgument: what the engine says, behind the name of the file.
  [[nodiscard]] Result<JobRows> Run(const std::string& file);
  // Likewise, but hands the rows over as JobEngine::Stream does.
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
