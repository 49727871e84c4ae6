// The call stack of every span. A span's own stack counts where the input has one. Else it is the path of the calls of
// Python (functions, C functions, modules) that are open around it on its track, itself included when it is one:
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
    uint32_t caller = 0;  // a node before this one; node 0, the empty stack, is its own
  };
  std::vector<Node> nodes;        // no two are the same stack
  std::vector<uint32_t> node_of;  // by span
  // Outermost frame first, with ';' between them.
  std::string TextOf(const Trace& trace, uint32_t node) const;
};

// O(spans).
[[nodiscard]] StacksOfSpans FindStacks(const Trace& trace);

}  // namespace opscope
