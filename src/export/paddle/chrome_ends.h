// The text before and after the events of Paddle's Chrome JSON.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "export/paddle/facts.h"
#include "opscope/paddle/node_trees.h"
#include "opscope/trace.h"

namespace opscope {

// Suffix of a thread's row: "123(Python)".
constexpr std::string_view PaddleRowSuffix(bool is_python) {
  return is_python ? "(Python)" : "(C++)";
}

// The text before the first event.
[[nodiscard]] std::string PaddleChromeHead(const PaddleRunFacts& facts);
// The text after the last event: names and order of rows, facts about the run.
[[nodiscard]] std::string PaddleChromeTail(const Trace& trace, const PaddleNodeTrees& trees,
                                           const PaddleRunFacts& facts);

}  // namespace opscope
