// Finds the call stack of every span. It is the span's own stack if the input has one, else the path of Python calls
// (functions, C functions, modules) that enclose it on its track, itself included if it is one:
//
//   span                     stack
//   train.py(3): main        train.py(3): main
//     nn.Module: Linear_0    train.py(3): main;nn.Module: Linear_0
//       aten::addmm          train.py(3): main;nn.Module: Linear_0
//
// Thread rule: pure functions; the result is immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

struct StacksOfSpans {
  struct Node {
    StringId frame = StringId::kEmpty;
    uint32_t caller = 0;  // an earlier node; node 0 is the empty stack and its own caller
  };
  std::vector<Node> nodes;        // all distinct
  std::vector<uint32_t> node_of;  // by span
  // Frames from the outermost on, separated by ';'. O(depth).
  std::string TextOf(const Trace& trace, uint32_t node) const;
};

// O(spans).
[[nodiscard]] StacksOfSpans FindStacks(const Trace& trace);

}  // namespace opscope
