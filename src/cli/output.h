// Where a verb writes a trace, and in which format.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "opscope/trace.h"

namespace opscope {

struct OutputOptions {
  std::string format = "opscope";  // or "chrome"
  std::string path;                // "-": standard output
  bool small = false;              // chrome as .gz: smaller, slower
};

// -o
void AddOutputOptions(CLI::App* app, OutputOptions* options);

// Prints the error of a failure and gives the exit code.
int WriteTrace(const Trace& trace, const OutputOptions& options);

}  // namespace opscope
