// `opscope doctor`: what on this machine can be profiled, and what is missing. Facts about Python and frameworks come
// from the Python package if it runs the command; the native program knows the machine alone.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/escaped_text.h"
#include "cli/exit_code.h"
#include "cli/machine_facts.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace opscope {
namespace {

int RunDoctor(bool json, const CliHost& host) {
  MachineFacts machine = CollectMachineFacts();
  const HostFacts facts = host.probe ? host.probe() : HostFacts{};
  if (facts.has_probed_cupti) {
    machine.cupti = facts.cupti;
    machine.cupti_version = facts.cupti_version;
    machine.cuda_can_be_recorded = facts.cuda_detail.empty();
    machine.cuda_detail = facts.cuda_detail;
  }
  const std::string text =
      json ? DoctorJson(machine, facts) : WrapLines(FormatDoctor(machine, facts), DetectTerminal(true).width);
  const int written = ExitFor(WriteStandardOutput(text));
  return WorseExit(written, facts.can_profile_everything() ? kExitDone : kExitPartial);
}

}  // namespace

Verb DoctorVerb(const CliHost& host) {
  auto options = std::make_shared<CommonOptions>();
  return {.names = {"doctor"},
          .description = "what on this machine can be profiled, and what is missing",
          .footer = "Exit codes: 0 all that is installed can be profiled, 3 something that is installed cannot.",
          .run = [options, &host] { return RunDoctor(options->json, host); },
          .options = {{.names = {"--json"}, .target = &options->json, .description = "JSON on standard output"}}};
}

}  // namespace opscope
