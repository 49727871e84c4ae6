// The verbs, and what they share: common options, opening inputs, exit codes.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "opscope/cli.h"
#include "opscope/job.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

extern const char* const kVersionText;  // "opscope 1.2.3"

struct CommonOptions;

// What answers over a JOB.
struct JobEngineOptions {
  std::string engine = "duckdb";
  std::string master;  // of Spark; "": its own settings say
  // Why Spark does not answer, as a part of a sentence; "": it does. None: the verb reads spans on this machine.
  std::function<std::string(const CommonOptions&)> why_no_spark = {};

  bool is_spark() const { return engine == "spark"; }
};

struct CommonOptions {
  std::vector<std::string> files;
  bool json = false;
  bool csv = false;
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
  uint64_t max_memory = 0;
  std::optional<int32_t> attempt;      // of a JOB; nullopt: the largest
  JobClocks clocks = JobClocks::kOwn;  // of a JOB; timelines need kAligned
  std::string from;                    // one of ImportFormatNames(); "": by the content
  JobEngineOptions engine = {};

  bool prints_text() const { return !json && !csv; }
};

// Path of the library of Python's package duckdb; "" if it is not installed.
std::string DuckdbModule(const CliHost& host);

// Verbs keep references to `host` and `command_line`. REQUIRES: both outlive the Verb.
Verb AdviseVerb(const CliHost& host);
Verb AnalyzeMegEngineVerb();
Verb CheckVerb(const CliHost& host);
Verb CollectVerb(const CliHost& host);
Verb CompactVerb(const CliHost& host);
Verb CompletionVerb(const CommandLine* command_line);
Verb ConvertVerb();
Verb CriticalPathVerb(const CliHost& host);
Verb DevicesVerb(const CliHost& host);
Verb DiffVerb(const CliHost& host);
Verb DoctorVerb(const CliHost& host);
Verb ExportVerb(const CliHost& host);
Verb FlameVerb();
Verb InfoVerb();
// name: "ranks", "collectives", "stragglers" or "critical-ranks".
Verb JobVerb(const std::string& name, const std::string& description, const CliHost& host);
Verb ManVerb(const CommandLine* command_line);
Verb McpVerb(const CliHost& host);
Verb MemoryVerb(const CliHost& host);
Verb MergeVerb(const CliHost& host);
Verb ModulesVerb();
Verb PsVerb();
Verb QueryVerb(const CliHost& host);
Verb RecordVerb();
Verb ReportVerb(const CliHost& host);
Verb ReproduceVerb();
Verb RooflineVerb();
Verb RunVerb(const CliHost& host);
Verb StepsVerb(const CliHost& host);
Verb SummaryVerb(const CliHost& host);
Verb ViewVerb(const CliHost& host);

// The whole command line. REQUIRES: `line` and `host` stay where they are, since verbs use them.
void DescribeCommandLine(const CliHost& host, CommandLine* line);

// kOptional: there may also be none.
enum class InputFiles { kOne, kSeveral, kOptional };

// FILE, -q, -v, --no-color, --max-memory, --attempt, --from, --engine, --master. The verb refuses an engine that would
// not give the answer.
void AddCommonOptions(Verb* verb, CommonOptions* options, InputFiles files = InputFiles::kSeveral);
// --json, --csv
void AddFormOptions(Verb* verb, CommonOptions* options);

// For JobEngineOptions::why_no_spark: Spark answers over one JOB alone. "": the input is one.
std::string WhyNotOneJob(const CommonOptions& common);

// As messages call it: "-" is standard input.
std::string InputName(const std::string& file);
Result<Trace> OpenInput(const std::string& file, const CommonOptions& common);
// Says on standard error which attempt of a JOB is answered for, if it has several and common.attempt chooses none.
void ReportAttempts(const std::string& job, const CommonOptions& common);
// A whole number that is not negative. The error names the option.
Result<int32_t> ReadCount(const std::string& option, const std::string& text);
// All files, in their order; the error of the first that cannot be opened.
Result<std::vector<Trace>> OpenInputs(const CommonOptions& common);
// The job that the files are: several are merged, as `opscope merge` does.
Result<Trace> OpenJob(const CommonOptions& common);
// The names of its files.
std::string JobName(const CommonOptions& common);

// Opens each file ("-" is standard input) and hands the Trace to `use`, which returns an exit code.
// Prints errors, and the problems of damaged inputs (all problems with -v, none with -q). Returns the
// worst code.
int ForEachInput(const CommonOptions& options, const std::function<int(const Trace&, const std::string& file)>& use);

// Kinds of problems that the user has read, which are not listed again.
using ProblemKinds = std::set<std::string, std::less<>>;

// What `use` returns; where memory does not suffice, an error that names the file, and its exit code.
int UseInput(const std::string& file, const std::function<int()>& use);
// Prints the problems and the quality of an input as ForEachInput does. Gives the exit code of a damaged input.
int ReportInput(const Trace& trace, const std::string& file, const CommonOptions& options,
                const ProblemKinds& said = {});

// The problems of a trace on standard error: losses, or with `all` or options.verbose harmless ones too. Without
// options.verbose the first ten of a kind.
void ListProblems(const Trace& trace, const std::string& name, const CommonOptions& options, bool all = false,
                  const ProblemKinds& said = {});

// How far the trace can be trusted, in one line on standard error; nothing where it is good. JSON has it as "quality".
void ReportQuality(const Trace& trace, const std::string& name);

// Prints the error of a failed Status and gives the exit code for it.
int ExitFor(const Status& status);

// Prints the message; gives the exit code of wrong usage.
int UsageError(const std::string& message);

}  // namespace opscope
