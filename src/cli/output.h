// Where a verb writes a trace, and in which format.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "opscope/cli.h"
#include "opscope/trace.h"

namespace opscope {

struct OutputOptions {
  std::string format = "opscope";  // one of ExportFormatNames(), or "parquet"
  std::string path;                // "-": standard output; parquet: a folder
  bool small = false;              // .gz: smaller, slower
  std::string table = "spans";     // csv
  bool merge_threads = false;      // collapsed, pprof
  std::string input;               // html: name of the input, the title of the page; "": that of the output
  bool quiet = false;              // do not print what was left out
  const CliHost* host = nullptr;   // parquet
};

// -o
void AddOutputOptions(Verb* verb, OutputOptions* options);
// --to, and the options of single formats. `host` must be there when the trace is written.
void AddFormatOptions(Verb* verb, OutputOptions* options, const CliHost& host, bool is_required);

// Wrong usage, with its message, if `output` is one of the inputs: writing would destroy it. A symbolic or hard link is
// the file that it leads to. 0: it is none of them. Only looks at the file system; call it before the inputs are read.
int RefuseInputAsOutput(const std::string& verb, const std::string& output, const std::vector<std::string>& inputs);

// Prints the error of a failure and gives the exit code.
int WriteTrace(const Trace& trace, const OutputOptions& options);

}  // namespace opscope
