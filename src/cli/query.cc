// `opscope query FILE 'SQL'`: one SQL statement over the tables of a trace or a JOB, as a table, JSON or CSV. Limits of
// time and memory stop the statement; where DuckDB does not stop in time, the process ends.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string>

#include "base/assign.h"
#include "cli/exit_code.h"
#include "cli/job_input.h"
#include "cli/result_writer.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/job.h"
#include "opscope/job_engine.h"
#include "opscope/report/job.h"
#include "opscope/report/job_report.h"
#include "opscope/sql.h"

namespace opscope {
namespace {

struct QueryVerbOptions {
  CommonOptions common;
  std::string file;
  std::string sql;
  double max_seconds = SqlOptions().max_seconds;
  uint64_t max_memory = SqlOptions().max_memory;
  int64_t limit = static_cast<int64_t>(SqlOptions().max_rows);
};

Result<std::string> ReadStatement(const std::string& operand) {
  if (operand != "-") return operand;
  std::string text;
  char piece[65536];
  while (true) {
    const ssize_t read_bytes = read(STDIN_FILENO, piece, sizeof(piece));
    if (read_bytes == 0) return text;
    if (read_bytes < 0) return Error{ErrorCode::kIo, "query: standard input cannot be read", errno};
    text.append(piece, static_cast<size_t>(read_bytes));
  }
}

SqlOptions LimitsOf(const QueryVerbOptions& options, const std::string& python_module) {
  // DuckDB cannot be stopped within one huge value; the process can.
  const auto end_process = [](const std::string& message) {
    PrintError("query: " + message);
    _exit(kExitFailed);
  };
  return {.max_seconds = options.max_seconds,
          .max_memory = options.max_memory,
          .max_rows = static_cast<uint64_t>(options.limit),
          .python_module = python_module,
          .on_stuck = end_process};
}

// json: the rows, and the problems of their input.
int PrintRows(const SqlResult& rows, const QueryVerbOptions& options, const std::function<std::string()>& json) {
  if (options.common.prints_text() && !options.common.quiet) {
    if (rows.row_count() == 0) PrintError("query: there are no rows");
    if (rows.is_truncated())
      PrintError("query: only the first " + std::to_string(rows.row_count()) + " rows (--limit)");
  }
  ResultWriter writer(options.common, ResultWriter::Of::kTogether);
  return writer.Write(options.file,
                      options.common.json  ? json()
                      : options.common.csv ? rows.Csv()
                                           : rows.Text(writer.width()),
                      true);
}

int FailQuery(const Error& error) {
  PrintError("query: " + error.message);
  return kExitFailed;
}

int QueryTrace(const Trace& trace, const std::string& sql, const QueryVerbOptions& options,
               const std::string& python_module) {
  const std::shared_ptr<const Trace> borrowed(std::shared_ptr<void>(), &trace);
  const Result<SqlResult> rows = RunSql(borrowed, sql, LimitsOf(options, python_module));
  if (!rows.ok()) return FailQuery(rows.error());
  return PrintRows(rows.value(), options, [&] { return rows.value().Json(trace); });
}

// What is wrong with the files whose rows the statement sees.
Result<JobCondition> ConditionOf(const QueryVerbOptions& options, const std::string& python_module) {
  OPSCOPE_ASSIGN(const std::unique_ptr<JobEngine> engine,
                 OpenDuckdbEngine(options.file, python_module, {"ranks", "problems"}));
  return FindJobCondition(engine.get(), options.common.attempt);
}

int QueryJob(const std::string& sql, const QueryVerbOptions& options, const std::string& python_module) {
  const std::string& job = options.file;
  const Result<SqlResult> rows = RunJobSql(job, sql, LimitsOf(options, python_module), options.common.attempt);
  if (!rows.ok()) return FailQuery(rows.error());
  const Result<JobCondition> condition = ConditionOf(options, python_module);
  if (!condition.ok()) return FailQuery(NameJob(job, condition.error()));
  const auto& [problems, quality] = condition.value();
  const int printed =
      PrintRows(rows.value(), options, [&] { return rows.value().Json(JobProblemsJson(problems), quality); });
  return WorseExit(printed, ReportJobCondition(job, problems, quality, options.common));
}

int RunQuery(QueryVerbOptions& options, const CliHost& host) {
  if (options.file == "-" && options.sql == "-")
    return UsageError("query: the trace and the statement cannot both be standard input");
  options.common.files = {options.file};
  const Result<std::string> sql = ReadStatement(options.sql);
  if (!sql.ok()) return ExitFor(sql.error());
  const std::string python_module = DuckdbModule(host);
  if (IsJob(options.file)) return QueryJob(sql.value(), options, python_module);
  return ForEachInput(options.common, [&](const Trace& trace, const std::string&) {
    return QueryTrace(trace, sql.value(), options, python_module);
  });
}

}  // namespace

Verb QueryVerb(const CliHost& host) {
  auto options = std::make_shared<QueryVerbOptions>();
  Verb verb{.names = {"query"}, .description = "one SQL statement over the tables of the trace"};
  options->common.engine.why_no_spark = [](const CommonOptions&) -> std::string {
    return "a statement of Spark may read and write any file, and `query` promises that a statement cannot; "
           "opscope.job(JOB, engine=session).sql in Python runs it";
  };
  AddCommonOptions(&verb, &options->common, InputFiles::kOne);
  for (Option& option : verb.options) {
    if (option.is_operand()) option.target = &options->file;  // a list would take the statement, too
    if (option.names.back() == "--max-memory") {              // it limits the query here, not the trace
      option.target = &options->max_memory;
      option.description = "stop the query when it needs more bytes (suffixes K, M, G)";
    }
  }
  verb.Add({.names = {"SQL"},
            .target = &options->sql,
            .description = "the statement, in DuckDB's dialect; - is standard input",
            .is_required = true});
  AddFormOptions(&verb, &options->common);
  verb.Add({.names = {"--max-seconds"},
            .target = &options->max_seconds,
            .description = "stop the query after so many seconds",
            .least = 0});
  verb.Add(
      {.names = {"--limit"}, .target = &options->limit, .description = "print at most this many rows", .least = 1});
  verb.run = [options, &host] { return RunQuery(*options, host); };
  return verb;
}

}  // namespace opscope
