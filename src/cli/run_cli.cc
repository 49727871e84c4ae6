// Entry point of the command line: parses the arguments and runs one verb. std::bad_alloc is caught here, the outermost
// frame, and becomes a message.
// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "base/short_memory.h"
#include "cli/end_by_signal.h"
#include "cli/exit_code.h"
#include "cli/parse.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/cli.h"

namespace opscope {
namespace {

int RunArguments(int argc, const char* const* argv, const AskHost& ask_host) {
  CommandLine line{.description = "A performance profiler for deep-learning programs.",
                   .footer = "Exit codes: 0 done, 1 could not do it, 2 wrong usage, 3 done in part (damaged input).",
                   .verbs = {SummaryVerb(), InfoVerb(), ExportVerb(), ConvertVerb(), MergeVerb(), FlameVerb(),
                             ModulesVerb(), DevicesVerb(), AnalyzeMegEngineVerb(), DoctorVerb(ask_host)}};
  line.verbs.push_back(CompletionVerb(&line));
  line.verbs.push_back(ManVerb(&line));
  const ParsedArguments parsed = ParseArguments(line, kVersionText, argc, argv);
  if (parsed.told) return ExitFor(WriteStandardOutput(*parsed.told));
  return parsed.verb != nullptr ? parsed.verb->run() : UsageError(parsed.error);
}

}  // namespace

int RunCli(int argc, const char* const* argv, const AskHost& ask_host) {
  const CleanEndBySignal clean_end;
  try {
    return RunArguments(argc, argv, ask_host);
  } catch (const std::bad_alloc& refused) {
    PrintError(ShortMemoryText(refused));
    return kExitFailed;
  }
}

}  // namespace opscope
