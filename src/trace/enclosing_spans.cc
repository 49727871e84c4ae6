// SPDX-License-Identifier: Apache-2.0
#include "trace/enclosing_spans.h"

#include <algorithm>
#include <utility>

#include "base/column.h"
#include "trace/nesting.h"

namespace opscope {
namespace {

constexpr uint32_t kNoRow = Row(SpanId::kNone);

}  // namespace

bool EnclosingSpans::Holds(uint32_t row, int64_t time) const {
  return spans_.start[row].ns == time || EndOf(spans_.start[row], spans_.duration[row]) > time;
}

void EnclosingSpans::Find(const TrackRange& range, Timestamp time, SpanId* found) {
  const Timestamp* begin = spans_.start.data() + range.first;
  const Timestamp* after = std::upper_bound(begin, begin + range.nested, time);
  *found = SpanId::kNone;
  if (after == begin) return;
  auto row = static_cast<uint32_t>(after - spans_.start.data() - 1);
  for (int steps = 0; row != kNoRow && !Holds(row, time.ns); ++steps) {
    if (steps == kMaxSteps) {
      deferred_.push_back({time.ns, row, found});
      return;
    }
    row = Row(spans_.parent[row]);
  }
  *found = static_cast<SpanId>(row);
}

void EnclosingSpans::Finish() {
  if (deferred_.empty()) return;
  std::sort(deferred_.begin(), deferred_.end(), [](const Deferred& a, const Deferred& b) { return a.time < b.time; });
  // By row: its parent, or an ancestor past those that have ended.
  Column<uint32_t> next;
  next.resize(spans_.size(), 0);
  for (size_t row = 0; row < spans_.size(); ++row)
    next[row] = Row(spans_.parent[row]);
  for (const Deferred& deferred : deferred_) {
    uint32_t holding = deferred.row;
    while (holding != kNoRow && !Holds(holding, deferred.time))
      holding = next[holding];
    for (uint32_t row = deferred.row; row != holding;)
      row = std::exchange(next[row], holding);
    *deferred.found = static_cast<SpanId>(holding);
  }
  deferred_.clear();
}

}  // namespace opscope
