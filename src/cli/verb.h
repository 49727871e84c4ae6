// What the verbs share: their place in the command line, common options, opening inputs.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opscope/cli.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

inline constexpr const char* kVersionText = "opscope " OPSCOPE_VERSION;

struct CommonOptions {
  std::vector<std::string> files;
  bool json = false;
  bool csv = false;
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
  uint64_t max_memory = 0;

  bool is_for_people() const { return !json && !csv; }
};

// A verb of the command line. `run` is called once, after the arguments were read.
struct Verb {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

Verb AddSummaryVerb(CLI::App* root);
Verb AddInfoVerb(CLI::App* root);
Verb AddExportVerb(CLI::App* root);
Verb AddConvertVerb(CLI::App* root);
Verb AddMergeVerb(CLI::App* root);
Verb AddFlameVerb(CLI::App* root);
Verb AddModulesVerb(CLI::App* root);
Verb AddDevicesVerb(CLI::App* root);
Verb AddCompletionVerb(CLI::App* root);
Verb AddManVerb(CLI::App* root);
Verb AddDoctorVerb(CLI::App* root, const AskHost& ask_host);

// FILE..., --version, -q, -v, --no-color, --max-memory.
void AddCommonOptions(CLI::App* app, CommonOptions* options);
// --json, --csv
void AddFormOptions(CLI::App* app, CommonOptions* options);

// As messages call it: "-" is standard input.
std::string InputName(const std::string& file);
Result<Trace> OpenInput(const std::string& file, const CommonOptions& common);

// Opens each file ("-" is standard input) and hands the Trace to `use`, which returns an exit code.
// Prints errors, and the problems of damaged inputs (all problems with -v, none with -q). Returns the
// worst code. `is_titled`: each file's name goes to standard output before it, where there are several.
int ForEachInput(const CommonOptions& options, const std::function<int(const Trace&, const std::string& file)>& use,
                 bool is_titled = false);

// The problems of a trace on standard error: losses, or with `all` harmless ones too.
void ListProblems(const Trace& trace, const std::string& name, bool all);

// Prints the error of a failed Status and gives the exit code for it.
int ExitFor(const Status& status);

// Prints the message; gives the exit code of wrong usage.
int UsageError(const std::string& message);

}  // namespace opscope
