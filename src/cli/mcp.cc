// `opscope mcp`: answers to programs, by the Model Context Protocol. The protocol is spoken by Python's package `mcp`,
// so the host of the command line serves, and this file only has the words of the command.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace opscope {
namespace {

int ServeByHost(const std::vector<std::string>& files, const CliHost& host) {
  if (host.serve_mcp) return host.serve_mcp(files);
  PrintError("mcp: needs opscope's Python package: pip install 'opscope[mcp]'");
  return kExitFailed;
}

}  // namespace

Verb McpVerb(const CliHost& host) {
  auto files = std::make_shared<std::vector<std::string>>();
  return {.names = {"mcp"},
          .description = "answer the questions of agents and scripts about traces (Model Context Protocol)",
          .footer =
              "Speaks the protocol on standard input and output, until the input ends. Reads the given files and no "
              "other. Needs the package mcp: pip install 'opscope[mcp]'.",
          .run = [files, &host] { return ServeByHost(*files, host); },
          .options = {{.names = {"FILE"},
                       .target = files.get(),
                       .description = "traces; a question names one of them, or is about the first",
                       .is_required = true}}};
}

}  // namespace opscope
