// What stands around the events of Paddle's JSON.
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

// Of the row of a thread: "123(Python)".
constexpr std::string_view PaddleRowSuffix(bool is_python) {
  return is_python ? "(Python)" : "(C++)";
}

// To the first event.
[[nodiscard]] std::string PaddleChromeHead(const PaddleRunFacts& facts);
// From behind the last one: names and places of rows, and facts about the run.
[[nodiscard]] std::string PaddleChromeTail(const Trace& trace, const PaddleNodeTrees& trees,
                                           const PaddleRunFacts& facts);

}  // namespace opscope
