// The `opscope` command.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "bindings.h"
#include "opscope/cli.h"

namespace opscope::python {
namespace {

int RunCommandLine(nb::list arguments) {
  std::vector<std::string> texts;
  for (nb::handle argument : arguments)
    texts.emplace_back(nb::cast<nb::bytes>(argument).c_str());
  std::vector<const char*> pointers;
  for (const std::string& text : texts)
    pointers.push_back(text.c_str());
  return WithoutGil([&] { return RunCli(static_cast<int>(pointers.size()), pointers.data()); });
}

}  // namespace

void BindCommandLine(nb::module_& module) {
  module.def("run_command_line", &RunCommandLine, nb::arg("arguments"),
             "Runs `opscope ARGS...` (bytes, the first one is the program's name) and returns the exit code.");
}

}  // namespace opscope::python
