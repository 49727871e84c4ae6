// Reads the arguments, runs one verb. CLI11 throws for help, version and usage errors; nothing of that
// leaves this file, and neither does std::bad_alloc.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "base/short_memory.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/cli.h"

namespace opscope {
namespace {

int RunParsed(const std::vector<Verb>& verbs) {
  for (const Verb& verb : verbs) {
    if (verb.app->parsed()) return verb.run();
  }
  return kExitUsage;
}

bool IsVerb(const std::vector<Verb>& verbs, const char* name) {
  return std::any_of(verbs.begin(), verbs.end(), [&](const Verb& verb) { return verb.app->check_name(name); });
}

int ReportUsage(const CLI::App& root, const CLI::ParseError& error) {
  std::string verb;
  for (const CLI::App* parsed : root.get_subcommands())
    verb = parsed->get_name() + " ";
  PrintError((verb.empty() ? "" : verb.substr(0, verb.size() - 1) + ": ") + std::string(error.what()) +
             "; see 'opscope " + verb + "--help'");
  return kExitUsage;
}

int RunArguments(int argc, const char* const* argv, const AskHost& ask_host) {
  CLI::App root("A performance profiler for deep-learning programs.", "opscope");
  root.set_version_flag("--version", kVersionText);
  root.require_subcommand(1);
  root.footer("Exit codes: 0 done, 1 could not do it, 2 wrong usage, 3 done in part (damaged input).");
  const std::vector<Verb> verbs = {AddSummaryVerb(&root),    AddInfoVerb(&root),    AddExportVerb(&root),
                                   AddConvertVerb(&root),    AddMergeVerb(&root),   AddFlameVerb(&root),
                                   AddModulesVerb(&root),    AddDevicesVerb(&root), AddDoctorVerb(&root, ask_host),
                                   AddCompletionVerb(&root), AddManVerb(&root)};
  if (argc > 1 && argv[1][0] != '-' && !IsVerb(verbs, argv[1])) {
    PrintError("there is no '" + std::string(argv[1]) + "'; see 'opscope --help'");
    return kExitUsage;
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return ExitFor(WriteStandardOutput(root.help()));
  } catch (const CLI::CallForVersion& version) {
    return ExitFor(WriteStandardOutput(std::string(version.what()) + "\n"));
  } catch (const CLI::ParseError& error) {
    return ReportUsage(root, error);
  }
  return RunParsed(verbs);
}

}  // namespace

int RunCli(int argc, const char* const* argv, const AskHost& ask_host) {
  try {
    return RunArguments(argc, argv, ask_host);
  } catch (const std::bad_alloc&) {
    PrintError(kShortMemory);
    return kExitFailed;
  }
}

}  // namespace opscope
