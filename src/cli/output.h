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
  std::string format = "opscope";  // one of ExportFormatNames()
  std::string path;                // "-": standard output
  bool small = false;              // .gz: smaller, slower
  std::string table = "spans";     // csv
  bool merge_threads = false;      // collapsed, pprof
  bool quiet = false;              // do not tell what was left out
};

// -o
void AddOutputOptions(CLI::App* app, OutputOptions* options);
// --to, and what single formats can be told.
CLI::Option* AddFormatOptions(CLI::App* app, OutputOptions* options);

// Prints the error of a failure and gives the exit code.
int WriteTrace(const Trace& trace, const OutputOptions& options);

}  // namespace opscope
