// `opscope completion` and `opscope man`: what the command line tells about itself to shells and to man(1).
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "cli/surface.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace opscope {

Verb AddCompletionVerb(CLI::App* root) {
  auto shell = std::make_shared<std::string>();
  CLI::App* app = root->add_subcommand("completion", "a script that makes a shell complete opscope's command line");
  app->set_version_flag("--version", kVersionText);
  app->add_option("SHELL", *shell, "which shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app->footer(
      "bash: eval \"$(opscope completion bash)\"; zsh: the same with zsh, after compinit; fish: opscope completion "
      "fish | source.");
  return {app, [root, shell] { return ExitFor(WriteStandardOutput(CompletionScript(SurfaceOf(*root), *shell))); }};
}

Verb AddManVerb(CLI::App* root) {
  CLI::App* app = root->add_subcommand("man", "the manual page, for: opscope man | man -l -");
  app->set_version_flag("--version", kVersionText);
  return {app, [root] { return ExitFor(WriteStandardOutput(ManPage(SurfaceOf(*root), kVersionText))); }};
}

}  // namespace opscope
