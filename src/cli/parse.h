// Arguments into the targets of a verb's options.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.h"

namespace opscope {

struct ParsedArguments {
  const Verb* verb = nullptr;       // to be run
  std::optional<std::string> told;  // else, for standard output: the help or the version
  std::string error;                // else: what is wrong, and where the help is
};

[[nodiscard]] ParsedArguments ParseArguments(const CommandLine& command_line, const std::string& version, int argc,
                                             const char* const* argv);

}  // namespace opscope
