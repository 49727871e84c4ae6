// --json, --csv, --limit, --sort: how a verb prints the rows of its result.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/answers.h"
#include "cli/verb.h"
#include "opscope/report.h"
#include "opscope/result.h"

namespace opscope {

struct RowVerbOptions {
  int64_t limit = 0;
  std::string sort;
};

// `sort_help`: what may be sorted by, and what happens without.
void AddRowOptions(Verb* verb, CommonOptions* common, RowVerbOptions* options, const std::string& sort_help);

// A result in each of its three forms, and why there are no rows, if so, in a sentence.
struct RowTexts {
  std::function<Result<std::string>(const RowOptions&)> table;
  std::function<Result<std::string>(const RowOptions&)> csv;
  std::function<Result<std::string>(const RowOptions&)> json;
  std::string nothing = {};
};

// Prints the form that was asked for: a table no wider than the terminal, its first line bold where there is colour.
// A failure is wrong usage of --sort. Gives the exit code.
int PrintRows(const std::string& verb, const std::string& file, const CommonOptions& common,
              const RowVerbOptions& options, const RowTexts& texts, Answers* answers);

// Why there is no answer, on standard error unless -q is given; "": there is one.
void TellNothing(const std::string& file, const CommonOptions& common, const std::string& sentence);

}  // namespace opscope
