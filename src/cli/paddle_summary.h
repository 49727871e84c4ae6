// Options and text of `opscope summary --style paddle`.
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
  PaddleTableOptions table;  // derived from the fields above
};

void AddPaddleSummaryOptions(Verb* verb, PaddleSummaryOptions* options);

// Fills `table`. Fails if the style is not "paddle" and one of these options is given, or if Paddle lacks the value.
[[nodiscard]] Status ReadPaddleSummaryOptions(const std::string& style, const std::string& sort,
                                              PaddleSummaryOptions* options);

[[nodiscard]] std::string PaddleSummaryText(const Trace& trace, const PaddleSummaryOptions& options);

}  // namespace opscope
