// Prints the answer of a verb over a JOB, for the verbs that have no other input and for those that may have one.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "cli/result_options.h"
#include "cli/verb.h"
#include "opscope/cli.h"
#include "opscope/job_engine.h"
#include "opscope/report/job_report.h"

namespace opscope {

struct JobEngineOptions {
  std::string engine = "duckdb";
  std::string master;  // of Spark; "": its own settings say
  bool is_spark() const { return engine == "spark"; }
};

// --engine, --master.
void AddEngineOptions(Verb* verb, JobEngineOptions* options);

// Whether the options fit together.
Status CheckEngine(const JobEngineOptions& options);
// kUnsupported: there is no DuckDB, or no Python for Spark.
Result<std::unique_ptr<JobEngine>> OpenEngine(const std::string& job, const JobEngineOptions& options,
                                              const CliHost& host);
// Asks the engine, prints problems and the rows. Returns the exit code: kExitPartial if data is lost.
int AnswerOverJob(const std::string& verb, const std::string& job, const JobQuestion& question,
                  const CommonOptions& common, const ResultVerbOptions& result,
                  Result<std::unique_ptr<JobEngine>> engine, ResultWriter* writer);

}  // namespace opscope
