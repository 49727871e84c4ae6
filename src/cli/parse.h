// Parses arguments into the targets of a verb's options.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.h"

namespace opscope {

struct ParsedArguments {
  const Verb* verb = nullptr;                  // the verb to run; null if `help_or_version` or `error` is set
  std::optional<std::string> help_or_version;  // for standard output
  std::string error;                           // message for wrong usage
};

[[nodiscard]] ParsedArguments ParseArguments(const CommandLine& command_line, const std::string& version, int argc,
                                             const char* const* argv);

}  // namespace opscope
