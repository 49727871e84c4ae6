// Entry point of the command line: parses the arguments and runs one verb. std::bad_alloc is caught here, the outermost
// frame, and becomes a message.
// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "base/catch_bad_alloc.h"
#include "cli/end_by_signal.h"
#include "cli/exit_code.h"
#include "cli/parse.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/cli.h"

namespace opscope {

void DescribeCommandLine(const CliHost& host, CommandLine* line) {
  *line = {
      .description = "A performance profiler for deep-learning programs.",
      .footer =
          "Exit codes: 0 done, 1 could not do it, 2 wrong usage, 3 done in part (damaged input), 4 a limit of "
          "check is crossed.",
      .verbs = {RunVerb(host),
                PsVerb(),
                RecordVerb(),
                SummaryVerb(host),
                InfoVerb(),
                ExportVerb(host),
                ConvertVerb(),
                MergeVerb(host),
                CollectVerb(host),
                CompactVerb(host),
                JobVerb("ranks", "the ranks of a job: steps, waiting, clocks", host),
                JobVerb("collectives", "the collectives of a job, and who waited in them", host),
                JobVerb("stragglers", "ranks, hosts and stages that make the others wait", host),
                JobVerb("critical-ranks", "the ranks that determine how long the job takes", host),
                ReportVerb(host),
                ViewVerb(host),
                FlameVerb(),
                ModulesVerb(),
                StepsVerb(host),
                DevicesVerb(host),
                MemoryVerb(host),
                CriticalPathVerb(host),
                RooflineVerb(),
                AdviseVerb(host),
                DiffVerb(host),
                CheckVerb(host),
                QueryVerb(host),
                ReproduceVerb(),
                McpVerb(host),
                AnalyzeMegEngineVerb(),
                DoctorVerb(host),
                CompletionVerb(line),
                ManVerb(line)},
      .environment = {{"NO_COLOR", "Set to anything: no colour, as with --no-color."},
                      {"COLUMNS", "The width of the tables, where the terminal does not tell it."},
                      {"OPSCOPE_LOG", "off: no progress on long work."},
                      {"OPSCOPE_CONTROL", "A folder: programs can be recorded on demand through it."},
                      {"OPSCOPE_DUCKDB_LIB", "The library of DuckDB, for SQL and Parquet."}},
      .examples = {
          {"opscope run --steps 10..20 -- torchrun --nproc-per-node 8 train.py",
           "Steps 10 to 20 of every rank, recorded without a changed line, in the folder opscope-run."},
          {"opscope record opscope-run --steps 5",
           "Five steps of every rank of a running job that `opscope run --on-demand` has started."},
          {"opscope summary trace.json.gz --limit 20", "The twenty operators that took longest."},
          {"opscope summary run.opscope --where 'name ~ conv and duration > 10us' --steps 3..7",
           "Of steps 3 to 7, the convolutions that took longer than ten microseconds."},
          {"opscope diff before.opscope after.opscope --limit 20",
           "What became slower or faster from one run to another."},
          {"opscope query run.opscope 'SELECT name, sum(duration) FROM spans GROUP BY name ORDER BY 2 DESC LIMIT 5'",
           "The five names that took longest, in SQL."},
          {"opscope reproduce trace.json.gz --where 'name = aten::addmm' -o repro.py",
           "A script that runs this operator alone, to time it or to report it."},
          {"opscope report trace.json.gz -o trace.html",
           "A page for the browser: timeline, flame graph, tables, memory."},
          {"opscope merge rank*.json.gz -o all.opscope", "The ranks of a job as one trace."},
          {"opscope collect traces/ -o job",
           "A folder of all ranks, which the other commands take in place of a file."},
          {"opscope export all.opscope --to chrome -o - | gzip > all.json.gz", "Kineto's JSON, for any viewer."},
          {"eval \"$(opscope completion bash)\"", "Completion in this shell."}}};
}

namespace {

int RunArguments(int argc, const char* const* argv, const CliHost& host) {
  CommandLine line;
  DescribeCommandLine(host, &line);
  const ParsedArguments parsed = ParseArguments(line, kVersionText, argc, argv);
  if (parsed.help_or_version) return ExitFor(WriteStandardOutput(*parsed.help_or_version));
  if (parsed.verb == nullptr) return UsageError(parsed.error);
  const Status checked = parsed.verb->check ? parsed.verb->check() : Status();
  if (!checked.ok()) return UsageError(parsed.verb->names.front() + ": " + checked.error().message);
  return parsed.verb->run();
}

}  // namespace

int RunCli(int argc, const char* const* argv, const CliHost& host) {
  const TerminationHandlers clean_end;
  try {
    return RunArguments(argc, argv, host);
  } catch (const std::bad_alloc& refused) {
    PrintError(BadAllocText(refused));
    return kExitFailed;
  }
}

}  // namespace opscope
