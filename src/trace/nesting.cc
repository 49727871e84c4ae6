// One stack per track: rows are in pre-order, so the parent of a row is on the stack of open spans, and
// each row is pushed and popped once. The three ways differ only in what closes an open span: its recorded
// depth, its clipped end, or its end if the next span outlasts it. nesting.h has an example of each.
// SPDX-License-Identifier: Apache-2.0
#include "trace/nesting.h"

#include <algorithm>
#include <vector>

namespace opscope {
namespace {

struct OpenSpan {
  uint32_t row;
  int64_t bound;  // depth as recorded, or the end after clipping
};

// The column has 16 bits; deeper trees keep their shape (parents are right) and show this depth.
uint16_t ClampedDepth(size_t ancestors) {
  return static_cast<uint16_t>(std::min<size_t>(ancestors, UINT16_MAX));
}

SpanId ParentOf(const std::vector<OpenSpan>& open) {
  return open.empty() ? SpanId::kNone : static_cast<SpanId>(open.back().row);
}

}  // namespace

void NestByDepth(uint32_t first_row, std::span<uint16_t> depth, std::span<SpanId> parent) {
  std::vector<OpenSpan> open;
  for (size_t i = 0; i < depth.size(); ++i) {
    const int64_t recorded = depth[i];
    while (!open.empty() && open.back().bound >= recorded)
      open.pop_back();
    parent[i] = ParentOf(open);
    depth[i] = ClampedDepth(open.size());
    open.push_back({first_row + static_cast<uint32_t>(i), recorded});
  }
}

uint64_t NestByContainment(uint32_t first_row, std::span<const Timestamp> start, std::span<const Duration> duration,
                           std::span<uint16_t> depth, std::span<SpanId> parent) {
  std::vector<OpenSpan> open;
  uint64_t crossings = 0;
  for (size_t i = 0; i < start.size(); ++i) {
    while (!open.empty() && open.back().bound <= start[i].ns)
      open.pop_back();
    parent[i] = ParentOf(open);
    depth[i] = ClampedDepth(open.size());
    int64_t end = EndOf(start[i], duration[i]);
    if (!open.empty() && end > open.back().bound) {
      ++crossings;
      end = open.back().bound;
    }
    if (end > start[i].ns) open.push_back({first_row + static_cast<uint32_t>(i), end});
  }
  return crossings;
}

void NestAsSiblings(uint32_t first_row, std::span<const Timestamp> start, std::span<const Duration> duration,
                    std::span<uint16_t> depth, std::span<SpanId> parent) {
  std::vector<OpenSpan> open;
  for (size_t i = 0; i < start.size(); ++i) {
    const int64_t end = EndOf(start[i], duration[i]);
    while (!open.empty() && (open.back().bound <= start[i].ns || open.back().bound < end))
      open.pop_back();
    parent[i] = ParentOf(open);
    depth[i] = ClampedDepth(open.size());
    if (end > start[i].ns) open.push_back({first_row + static_cast<uint32_t>(i), end});
  }
}

}  // namespace opscope
