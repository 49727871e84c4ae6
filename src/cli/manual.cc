// `opscope completion` and `opscope man`: generated from the description of the command line.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace opscope {

Verb CompletionVerb(const CommandLine* command_line) {
  auto shell = std::make_shared<std::string>();
  return {
      .names = {"completion"},
      .description = "a script that makes a shell complete opscope's command line",
      .footer =
          "bash: eval \"$(opscope completion bash)\"; zsh: the same with zsh, after compinit; fish: opscope "
          "completion fish | source.",
      .run = [command_line, shell] { return ExitFor(WriteStandardOutput(CompletionScript(*command_line, *shell))); },
      .options = {{.names = {"SHELL"},
                   .target = shell.get(),
                   .description = "which shell",
                   .choices = {"bash", "zsh", "fish"},
                   .is_required = true}}};
}

Verb ManVerb(const CommandLine* command_line) {
  return {.names = {"man"}, .description = "the manual page, for: opscope man | man -l -", .run = [command_line] {
            return ExitFor(WriteStandardOutput(ManPage(*command_line, kVersionText)));
          }};
}

}  // namespace opscope
