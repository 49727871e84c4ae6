// `opscope ps` and `opscope record`: which processes wait for requests, and a window of some steps of theirs.
//
//   opscope ps traces;  opscope record traces --steps 5 --ranks 0,3;  opscope record 4711 --steps 5
//
// Both are about running processes, not about files: they take none of the options that choose spans.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/parse_whole.h"
#include "cli/exit_code.h"
#include "cli/job_input.h"
#include "cli/result_options.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/control.h"
#include "opscope/report/control.h"

namespace opscope {
namespace {

// Where `opscope run` puts its files, unless the variable names another folder.
std::string DefaultControlFolder() {
  const char* const named = std::getenv("OPSCOPE_CONTROL");
  return named != nullptr && *named != '\0' ? named : "opscope-run";
}

struct PsOptions {
  CommonOptions common;
  ResultVerbOptions result;
  std::string folder;
};

int RunPs(const PsOptions& options) {
  const std::string folder = options.folder.empty() ? DefaultControlFolder() : options.folder;
  const Result<std::vector<ControlProcess>> processes = ListProcesses(folder);
  if (!processes.ok()) return ExitFor(Error{processes.error().code, "ps: " + processes.error().message});
  ResultWriter writer(options.common, ResultWriter::Of::kTogether);
  return writer.End(PrintResult("ps", folder, std::span<const ResultInput>(), options.common, options.result,
                                ProcessListVerbResult(processes.value()), &writer));
}

struct RecordVerbOptions {
  CommonOptions common;
  ResultVerbOptions result;
  std::string target;
  std::vector<std::string> ranks;
  int64_t steps = 0;
};

// All digits: the number of a process; a folder of such a name is written ./123.
std::optional<int64_t> PidOf(const std::string& target) {
  const std::optional<int64_t> pid = ParseWhole<int64_t>(target);
  return pid && *pid > 0 ? pid : std::nullopt;
}

int ExitOf(const RecordReport& report) {
  const auto complete = std::count_if(report.rows.begin(), report.rows.end(),
                                      [](const RecordedProcess& row) { return row.status == WindowStatus::kComplete; });
  if (complete == 0) return kExitFailed;
  return static_cast<size_t>(complete) < report.rows.size() ? kExitPartial : kExitDone;
}

int RunRecord(const RecordVerbOptions& options) {
  RecordOptions record;
  record.steps = options.steps;
  record.pid = PidOf(options.target);
  record.folder = record.pid ? DefaultControlFolder() : options.target;
  Result<std::vector<int32_t>> ranks = ReadRanks(options.ranks);
  if (!ranks.ok()) return UsageError("record: " + ranks.error().message);
  record.ranks = std::move(ranks).value();
  if (record.pid && !record.ranks.empty()) return UsageError("record: --ranks chooses from a folder, not of a process");
  const Result<RecordReport> report = RecordOnDemand(record);
  if (!report.ok()) return ExitFor(Error{report.error().code, "record: " + report.error().message});
  ResultWriter writer(options.common, ResultWriter::Of::kTogether);
  const int printed = PrintResult("record", record.folder, std::span<const ResultInput>(), options.common,
                                  options.result, RecordedVerbResult(report.value()), &writer);
  return writer.End(WorseExit(printed, ExitOf(report.value())));
}

// -q, --no-color, --json, --csv, --sort, --limit; an answer about processes rests on no spans.
void AddProcessOptions(Verb* verb, CommonOptions* common, ResultVerbOptions* result) {
  verb->Add({"-q", "--quiet"}, &common->quiet, "no messages but errors");
  verb->Add({"--no-color"}, &common->no_color, "no colour");
  AddResultOptions(verb, common, result, "a JSON field such as rank or host");
  std::erase_if(verb->options, [](const Option& option) { return option.names.back() == "--explain"; });
}

}  // namespace

Verb PsVerb() {
  auto options = std::make_shared<PsOptions>();
  Verb verb{.names = {"ps"}, .description = "the processes that can be recorded on demand"};
  verb.Add({"DIR"}, &options->folder,
           "the folder in which they wait (default: what OPSCOPE_CONTROL says, else opscope-run)");
  AddProcessOptions(&verb, &options->common, &options->result);
  verb.run = [options] { return RunPs(*options); };
  return verb;
}

Verb RecordVerb() {
  auto options = std::make_shared<RecordVerbOptions>();
  Verb verb{.names = {"record"},
            .description = "records some steps of running processes, which all begin at the same step",
            .footer = "Exit code: 0 all files are complete, 3 some ranks failed, 1 all failed."};
  verb.Add({.names = {"DIR|PID"},
            .target = &options->target,
            .description = "a folder as of `ps`: all its ranks; or one process of the folder that `ps` takes without "
                           "DIR",
            .is_required = true});
  verb.Add({.names = {"--steps"},
            .target = &options->steps,
            .description = "how many steps",
            .least = 1,
            .most = static_cast<double>(kMaxWindowSteps),
            .is_required = true});
  verb.Add({.names = {"--ranks"}, .target = &options->ranks, .description = "these ranks alone", .delimiter = ','});
  AddProcessOptions(&verb, &options->common, &options->result);
  verb.run = [options] { return RunRecord(*options); };
  return verb;
}

}  // namespace opscope
