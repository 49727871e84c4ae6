// Sweeps the spans of a track by start with a heap of the ends of finished spans. When an unfinished span starts, ends
// before it are popped, and the smallest remaining end is that of the first enclosing span to end: the end that it
// borrows. Spans outside the nesting follow the nested ones, so two sorted sequences are merged on the fly.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/borrowed_ends.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace opscope {

std::vector<InheritedEnd> InheritedEnds(const Trace& trace, uint32_t track) {
  const SpanColumns& spans = trace.spans();
  std::vector<InheritedEnd> borrowed;
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> ends;  // of enclosing finished spans
  const auto visit = [&](uint32_t row) {
    const int64_t start = spans.start[row].ns, end = (spans.start[row] + spans.duration[row]).ns;
    while (!ends.empty() && ends.top() < start)
      ends.pop();
    if ((spans.flags[row] & span_flags::kUnfinished) == 0) {
      ends.push(end);
    } else {
      borrowed.push_back({row, ends.empty() ? end : std::min(end, ends.top()), !ends.empty()});
    }
  };
  uint32_t nested = trace.tracks().first_span[track];
  const uint32_t last = nested + trace.tracks().span_count[track];
  const auto is_nested = [&](uint32_t row) { return (spans.flags[row] & span_flags::kAsync) == 0; };
  uint32_t async = nested;
  while (async < last && is_nested(async))
    ++async;
  for (const uint32_t nested_end = async; nested < nested_end || async < last;) {
    const bool is_async = nested == nested_end || (async < last && spans.start[async] < spans.start[nested]);
    visit(is_async ? async++ : nested++);
  }
  std::sort(borrowed.begin(), borrowed.end(),
            [](const InheritedEnd& a, const InheritedEnd& b) { return a.span < b.span; });
  return borrowed;
}

}  // namespace opscope
