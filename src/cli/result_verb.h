// A verb that computes a result from the chosen spans of its inputs and prints it. What it adds to the common options
// is a function from Traces to a VerbResult; selection, sorting, limits and the forms of output are the same for all.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/result_options.h"
#include "cli/selection.h"
#include "cli/verb.h"
#include "opscope/analysis/span_use.h"
#include "opscope/trace.h"

namespace opscope {

// Inputs that belong together, given behind an option: `--a FILE...`.
struct InputSet {
  std::string option;  // "--a"
  std::string description;
  // As the command line has it, when `compute` is called. At least one.
  std::vector<std::string> files = {};
};

struct ResultVerb;

// Answers over a JOB without its merged trace; returns the exit code. nullopt: the ranks have to be merged.
using JobAnswerer =
    std::function<std::optional<int>(const std::string& job, const ResultVerb& verb, ResultWriter* writer)>;

// The same for JOBs that have one answer: verb.common.files.
using JobsAnswerer = std::function<std::optional<int>(const ResultVerb& verb, ResultWriter* writer)>;

struct ResultVerb {
  std::string name;
  std::string description;
  std::string sort_help = {};
  std::string limit_help = kLimitHelp;
  // Computes the result of one Trace, or of all inputs in the order of the command line, those of the first set first.
  std::function<VerbResult(std::span<const Trace> traces, const ResultVerb& verb)> compute;
  size_t inputs = 1;                       // more than 1: the verb takes exactly so many files, together
  bool is_of_job = false;                  // several files are one job, merged; false: each has its own answer
  std::vector<InputSet> sets = {};         // not empty: it takes these sets, or without their options one file for each
  std::vector<Option> more_options = {};   // of this verb alone; `compute` owns their targets
  std::function<Status()> check = {};      // whether the options make sense; empty: they always do
  std::function<SpanUse()> span_use = {};  // what the analysis reads, for --explain; empty: unknown
  JobAnswerer answer_job = {};             // empty: the ranks of a JOB are merged
  JobsAnswerer answer_jobs = {};           // the same of a verb that takes its inputs together
  // As the command line has it, when `compute` is called.
  CommonOptions common = {};
  ResultVerbOptions options = {};
  std::optional<SpanFilter> filter = {};
  // The trace has one rank of a JOB, and times count from the begin of the JOB.
  bool is_one_rank = false;
};

Verb MakeResultVerb(ResultVerb verb);

}  // namespace opscope
