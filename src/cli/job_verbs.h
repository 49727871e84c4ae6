// Prints the answer of a verb over a JOB, for the verbs that have no other input and for those that may have one.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/result_options.h"
#include "cli/verb.h"
#include "opscope/report/job_report.h"

namespace opscope {

struct JobEngineOptions {
  std::string engine = "duckdb";
  std::string master;  // of Spark; "": its own settings say
};

// --engine, --master.
void AddEngineOptions(Verb* verb, JobEngineOptions* options);

// Asks the engine, prints problems and the rows. Returns the exit code: kExitPartial if data is lost.
int AnswerOverJob(const std::string& verb, const std::string& job, const JobQuestion& question,
                  const CommonOptions& common, const ResultVerbOptions& result, const JobEngineOptions& engine_options,
                  const CliHost& host, ResultWriter* writer);

}  // namespace opscope
