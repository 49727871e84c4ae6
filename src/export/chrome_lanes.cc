// Chooses the spans that go to additional rows because they cross others (picture: chrome_lanes.h).
// FindCrossing places spans by level: work (operators) first, then user ranges, then Python calls. A span stays if it
// nests with all spans of lower levels and with those of its own level placed before it. Forest answers "does it
// cross?" by the innermost span around its start and around its end, found by binary search and by jumps to ancestors;
// comparing each pair would be quadratic, and so would be climbing out of a deep nest for each span behind it.
// Every other span goes to the first of the newest 64 extra rows in which it fits. Row numbers come from a counter:
// searching all rows for a free name took 2.2 s for 1,600 spans that all cross each other; 25,600 now take 0.04 s.
// SPDX-License-Identifier: Apache-2.0
#include "export/chrome_lanes.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "export/span_lanes.h"

namespace opscope {
namespace {

constexpr size_t kNone = SIZE_MAX;
// How many of the newest rows a crossing span is tried in before it gets a new one. Without a limit n spans that all
// cross each other would take n * n / 2 tries.
constexpr ptrdiff_t kMaxTriedRows = 64;

struct Times {
  int64_t start, end;
};

// A row of nested spans. Add them by start, longer first.
class Nest {
 public:
  // Returns false and adds nothing if the span crosses one of the row.
  bool Add(const Times& times) {
    while (!open_.empty() && open_.back() <= times.start)
      open_.pop_back();
    if (!open_.empty() && open_.back() < times.end) return false;
    open_.push_back(times.end);
    return true;
  }

 private:
  std::vector<int64_t> open_;  // ends, innermost last
};

// A row of nested spans that also answers whether any other span would cross one of them. Add them by start, longer
// first.
class Forest {
 public:
  // Returns false and adds nothing if the span crosses one of the row.
  bool Add(const Times& times) {
    while (last_ != kNone && spans_[last_].times.end <= times.start)  // these are before all later spans, too
      last_ = spans_[last_].around;
    if (last_ != kNone && spans_[last_].times.end < times.end) return false;
    spans_.push_back({times, last_, JumpFrom(last_), last_ == kNone ? 0 : spans_[last_].depth + 1});
    last_ = spans_.size() - 1;
    return true;
  }

  // Checks only the innermost span around each end: of all spans around a moment it ends first and begins last.
  bool Crosses(const Times& times) const {
    const size_t at_start = Around(times.start), at_end = Around(times.end);
    return (at_start != kNone && spans_[at_start].times.end < times.end) ||
           (at_end != kNone && spans_[at_end].times.start > times.start);
  }

 private:
  struct Span {
    Times times;
    size_t around;
    size_t jump;  // an ancestor farther out, or kNone: whatever is nearer ends no later
    size_t depth;
  };

  // Two jumps of equal length become one of twice the length, so every ancestor is O(log depth) jumps and steps away
  // (Myers, "An applicative random-access stack").
  size_t JumpFrom(size_t around) const {
    if (around == kNone) return kNone;
    const size_t once = spans_[around].jump;
    if (once == kNone) return around;
    const size_t twice = spans_[once].jump;
    if (twice == kNone) return around;
    const bool are_equal = spans_[around].depth - spans_[once].depth == spans_[once].depth - spans_[twice].depth;
    return are_equal ? twice : around;
  }

  // The innermost span that begins before the moment and ends after it. Spans end no later than those around them.
  size_t Around(int64_t time) const {
    const auto after = std::partition_point(spans_.begin(), spans_.end(),
                                            [time](const Span& span) { return span.times.start < time; });
    size_t at = after == spans_.begin() ? kNone : static_cast<size_t>(after - spans_.begin()) - 1;
    while (at != kNone && spans_[at].times.end <= time) {
      const size_t jump = spans_[at].jump;
      at = jump != kNone && spans_[jump].times.end <= time ? jump : spans_[at].around;
    }
    return at;
  }

  std::vector<Span> spans_;
  size_t last_ = kNone;  // the innermost span that has not ended
};

Times TimesOf(const SpanColumns& spans, uint32_t row) {
  return {spans.start[row].ns, EndOf(spans, row).ns};
}

// Where two spans cross, the one of the higher level leaves the row; of equal levels the later one.
enum Level : size_t { kWork, kRange, kCall, kLevels };

// Depends only on properties that the file preserves, so that export, import and export give the same bytes.
Level LevelOf(SpanKind kind) {
  switch (kind) {
    case SpanKind::kUserRange:
      return kRange;
    case SpanKind::kPythonFunction:
    case SpanKind::kCFunction:
    case SpanKind::kModule:
      return kCall;
    default:
      return kWork;
  }
}

// Returns those of `rows` that do not fit the thread's row, by start, longer first.
std::vector<uint32_t> FindCrossing(const SpanColumns& spans, std::span<const uint32_t> rows) {
  std::array<Forest, kLevels> placed;
  std::vector<uint32_t> crossing;
  for (size_t level = kWork; level < kLevels; ++level) {
    for (const uint32_t row : rows) {
      if (LevelOf(spans.kind[row]) != level) continue;
      const Times times = TimesOf(spans, row);
      const auto crosses = [&times](const Forest& lower) { return lower.Crosses(times); };
      const bool leaves = std::any_of(placed.begin(), placed.begin() + static_cast<ptrdiff_t>(level), crosses) ||
                          !placed[level].Add(times);
      if (leaves) crossing.push_back(row);
    }
  }
  const auto by_place = [&](uint32_t a, uint32_t b) {
    return std::tuple(spans.start[a], -spans.duration[a].ns, a) < std::tuple(spans.start[b], -spans.duration[b].ns, b);
  };
  std::sort(crossing.begin(), crossing.end(), by_place);
  return crossing;
}

}  // namespace

void ChromeLanes::AddThread(TrackId track, std::span<const uint32_t> rows) {
  const SpanColumns& spans = trace_.spans();
  Nest all;
  if (std::all_of(rows.begin(), rows.end(), [&](uint32_t row) { return all.Add(TimesOf(spans, row)); })) return;
  lane_of_.resize(spans.size(), 0);
  const size_t first = lanes_.size();
  std::vector<Nest> nests;
  for (const uint32_t row : FindCrossing(spans, rows)) {
    const Times times = TimesOf(spans, row);
    const auto newest = nests.size() > kMaxTriedRows ? nests.end() - kMaxTriedRows : nests.begin();
    auto fitting = std::find_if(newest, nests.end(), [&](Nest& nest) { return nest.Add(times); });
    if (fitting == nests.end()) {
      nests.emplace_back().Add(times);
      fitting = nests.end() - 1;
      lanes_.push_back({track, NewTid()});
    }
    lane_of_[row] = static_cast<uint32_t>(first + static_cast<size_t>(fitting - nests.begin()) + 1);
  }
}

std::string ChromeLanes::NewTid() {
  if (next_tid_ == kFirstTid) taken_.insert(trace_.tracks().tid.begin(), trace_.tracks().tid.end());
  while (taken_.contains(next_tid_))
    ++next_tid_;
  return std::to_string(next_tid_++);
}

}  // namespace opscope
