// `opscope doctor`: what on this machine can be profiled, and what is missing.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/exit_code.h"
#include "cli/machine_facts.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace opscope {
namespace {

int RunDoctor(bool json, const AskHost& ask_host) {
  const MachineFacts machine = LookAtMachine();
  const HostFacts host = ask_host ? ask_host() : HostFacts{};
  const int written = ExitFor(WriteStandardOutput(json ? DoctorJson(machine, host) : FormatDoctor(machine, host)));
  return WorseExit(written, host.can_profile_everything() ? kExitDone : kExitPartial);
}

}  // namespace

Verb AddDoctorVerb(CLI::App* root, const AskHost& ask_host) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* app = root->add_subcommand("doctor", "what on this machine can be profiled, and what is missing");
  app->set_version_flag("--version", kVersionText);
  app->footer("Exit codes: 0 all that is installed can be profiled, 3 something that is installed cannot.");
  app->add_flag("--json", options->json, "JSON on standard output");
  return {app, [options, ask_host] { return RunDoctor(options->json, ask_host); }};
}

}  // namespace opscope
