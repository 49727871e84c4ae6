// --json, --csv, --limit, --sort: how a verb prints its result.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/result_writer.h"
#include "cli/verb.h"
#include "opscope/analysis/basis.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/analysis/span_use.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

struct ResultVerbOptions {
  int64_t limit = 0;
  std::string sort;
  bool explain = false;  // say what the answer rests on
};

inline constexpr const char* kLimitHelp = "print this many rows (default: all)";

// Also the keys of the verb's results, below its help. `sort_help`: what may be sorted by, and what happens without.
void AddResultOptions(Verb* verb, CommonOptions* common, ResultVerbOptions* options, const std::string& sort_help,
                      const std::string& limit_help = kLimitHelp);

// Sorts the first table by --sort and prints the requested form: text no wider than the terminal, with a bold first
// line if colour is on. Fails on wrong usage of --sort. `inputs`: JSON lists their problems. Returns the exit code.
int PrintResult(const std::string& verb, const std::string& file, std::span<const ResultInput> inputs,
                const CommonOptions& common, const ResultVerbOptions& options, VerbResult result, ResultWriter* writer);
// The same of one input.
int PrintResult(const std::string& verb, const std::string& file, const Trace& trace, const CommonOptions& common,
                const ResultVerbOptions& options, VerbResult result, ResultWriter* writer);

// What an answer about the selected spans of its inputs rests on, if --explain is given. An input is a trace, or a JOB
// whose ranks are added one after the other.
class BasisOfInputs {
 public:
  // use: what the analysis reads. REQUIRES: `options` and `filter` outlive the object.
  BasisOfInputs(const ResultVerbOptions& options, const std::optional<SpanFilter>& filter,
                std::optional<SpanUse> use = {})
      : is_wanted_(options.explain), filter_(filter), use_(use) {}

  // REQUIRES: `input` is that of the call before, or the next one.
  void Add(size_t input, const Trace& trace);
  // A row per input; nullopt without --explain.
  std::optional<ResultTable> Table() const;

 private:
  const bool is_wanted_;
  const std::optional<SpanFilter>& filter_;
  const std::optional<SpanUse> use_;
  std::vector<AnswerBasis> bases_;
};

// The same of traces.
std::optional<ResultTable> BasisIfRequested(const ResultVerbOptions& options, std::span<const Trace> traces,
                                            const std::optional<SpanFilter>& filter,
                                            const std::optional<SpanUse>& use = {});

// Row i of the basis, line by line on standard error, each behind the name of its input.
void ReportBasis(const std::string& input, const ResultTable& basis, size_t row);

// Why there is no answer, on standard error unless -q is given; "": there is one.
void ReportNoResult(const std::string& file, const CommonOptions& common, const std::string& sentence);

}  // namespace opscope
