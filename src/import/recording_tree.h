// Turns the recorder's order into the order of a Trace. Scopes are recorded when they end, so children
// come before their parent; `depth` tells who contains whom:
//
//   program   a { b { c } d }
//   recorded  c2 b1 d1 a0          (name and depth)
//   wanted    a b c d
//
// A record adopts all pending records before it that are deeper than itself; gaps in depth are legal.
// A subtree fills the same range of positions in both orders, so two linear passes do: sizes of
// subtrees forward, then each node's place is the begin of its range plus its number of ancestors.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/column.h"

namespace opscope {

struct PreOrder {
  Column<uint32_t> recorded;  // for each pre-order position, the position as recorded
  Column<uint16_t> depth;     // for each pre-order position, the number of ancestors (at most 65535)
};

// adopts(parent, child): asked before a pending record becomes a child of a later one that is less deep.
// Positions are as recorded.
template <typename Adopts>
PreOrder OrderByDepth(std::span<const uint16_t> recorded_depth, Adopts adopts) {
  const size_t count = recorded_depth.size();
  Column<uint32_t> begin;  // where each subtree's range begins
  begin.reserve(count);
  std::vector<uint32_t> pending;  // roots of finished subtrees, innermost last
  for (size_t i = 0; i < count; ++i) {
    begin.push_back(static_cast<uint32_t>(i));
    while (!pending.empty() && recorded_depth[pending.back()] > recorded_depth[i] && adopts(i, pending.back())) {
      begin[i] = begin[pending.back()];
      pending.pop_back();
    }
    pending.push_back(static_cast<uint32_t>(i));
  }
  PreOrder order;
  order.recorded.reserve(count);
  order.depth.reserve(count);
  order.recorded.resize(count, 0);
  order.depth.resize(count, 0);
  std::vector<uint32_t> ancestors;  // begins of the ranges around i
  for (size_t i = count; i-- > 0;) {
    while (!ancestors.empty() && ancestors.back() > i)
      ancestors.pop_back();
    const size_t place = begin[i] + ancestors.size();
    order.recorded[place] = static_cast<uint32_t>(i);
    order.depth[place] = static_cast<uint16_t>(ancestors.size() < UINT16_MAX ? ancestors.size() : UINT16_MAX);
    ancestors.push_back(begin[i]);
  }
  return order;
}

}  // namespace opscope
