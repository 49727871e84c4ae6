// `opscope summary --style paddle`: its options and its text.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"
#include "opscope/paddle/table.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

struct PaddleSummaryOptions {
  std::vector<std::string> views;
  bool thread_sep = false;
  bool no_op_detail = false;
  std::string time_unit;
  bool with_flops = false;
  PaddleTableOptions table;  // read from these
};

void AddPaddleSummaryOptions(Verb* verb, PaddleSummaryOptions* options);

// Fills `table`. The error names the option: one of these where the style is another, or a value that Paddle has not.
[[nodiscard]] Status ReadPaddleSummaryOptions(const std::string& style, const std::string& sort,
                                              PaddleSummaryOptions* options);

[[nodiscard]] std::string PaddleSummaryText(const Trace& trace, const PaddleSummaryOptions& options);

}  // namespace opscope
