// Blocks are bounded by closing the smallest gaps between neighbours of a line:
//
//   points 1 2 3    10    20 21, at most 3   ->   gaps 1 1 7 10 1, close the three of 1   ->   [1,3] 10 [20,21]
//
// A gap that is as wide as the widest closed one is closed too, so equal gaps are treated alike.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/timeline_marks.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/line_packer.h"
#include "base/saturating.h"
#include "opscope/analysis/memory_instants.h"

namespace opscope {
namespace {

constexpr uint32_t kMaxMarkLines = 64;

struct MarkOnLine {
  uint32_t track = 0, line = 0;
  int64_t start = 0, end = 0;
  uint32_t row = 0;
};

bool IsOnSameLine(const MarkOnLine& a, const MarkOnLine& b) {
  return a.track == b.track && a.line == b.line;
}

void SortMarksByTrack(std::vector<MarkOnLine>* marks) {
  std::sort(marks->begin(), marks->end(), [](const MarkOnLine& a, const MarkOnLine& b) {
    return std::tuple(a.track, a.start, a.row) < std::tuple(b.track, b.start, b.row);
  });
}

// A block, and the row of its only mark if it has one.
struct MarkBlock {
  FoldedSpans folded;
  uint32_t row = 0;
};

// Blocks by track, line, start.
std::vector<MarkBlock> FoldMarks(std::vector<MarkOnLine> marks, size_t max_blocks) {
  std::vector<MarkBlock> blocks;
  if (marks.empty()) return blocks;
  const auto sort = [&] {
    std::sort(marks.begin(), marks.end(), [](const MarkOnLine& a, const MarkOnLine& b) {
      return std::tuple(a.track, a.line, a.start, a.row) < std::tuple(b.track, b.line, b.start, b.row);
    });
  };
  sort();
  size_t lines = 1;
  for (size_t i = 1; i < marks.size(); ++i)
    lines += IsOnSameLine(marks[i - 1], marks[i]) ? 0 : 1;
  if (lines > max_blocks) {
    for (MarkOnLine& mark : marks)
      mark.line = 0;
    sort();
  }
  std::vector<int64_t> gaps(marks.size(), -1);  // to the mark before on the line; -1: it is the first
  std::vector<int64_t> sorted;
  int64_t end = 0;
  for (size_t i = 0; i < marks.size(); ++i) {
    const bool is_first = i == 0 || !IsOnSameLine(marks[i - 1], marks[i]);
    if (!is_first) {
      gaps[i] = std::max<int64_t>(0, SaturatingSubtract(marks[i].start, end));
      sorted.push_back(gaps[i]);
    }
    end = is_first ? marks[i].end : std::max(end, marks[i].end);
  }
  int64_t widest = -1;  // that is closed
  if (marks.size() > max_blocks && !sorted.empty()) {
    const size_t closed = std::min(sorted.size(), marks.size() - max_blocks);
    const auto last = sorted.begin() + static_cast<ptrdiff_t>(closed - 1);
    std::nth_element(sorted.begin(), last, sorted.end());
    widest = *last;
  }
  for (size_t i = 0; i < marks.size(); ++i) {
    const MarkOnLine& mark = marks[i];
    if (gaps[i] < 0 || gaps[i] > widest) {
      blocks.push_back({{mark.track, mark.line, mark.start, SaturatingSubtract(mark.end, mark.start), 1}, mark.row});
      continue;
    }
    FoldedSpans& block = blocks.back().folded;
    const int64_t last = std::max(SaturatingAdd(block.start_ns, block.duration_ns), mark.end);
    block.duration_ns = SaturatingSubtract(last, block.start_ns);
    ++block.count;
  }
  return blocks;
}

// Gives each range a line, and `lines` their number by track. `ranges`: by track and start.
void PlaceOnLines(std::vector<MarkOnLine>* ranges, std::vector<uint32_t>* lines) {
  LinePacker packer(kMaxMarkLines);  // of the track
  for (size_t i = 0; i < ranges->size(); ++i) {
    MarkOnLine& range = (*ranges)[i];
    if (i == 0 || (*ranges)[i - 1].track != range.track) packer.Clear();
    range.line = packer.Place(range.start, range.end);
    (*lines)[range.track] = packer.count();
  }
}

}  // namespace

TimelineMarks ChooseAsyncRanges(const Trace& trace, const MarkBudget& budget) {
  const AsyncSpanColumns& spans = trace.async_spans();
  TimelineMarks chosen;
  chosen.lines.assign(trace.tracks().size(), 0);
  std::vector<MarkOnLine> ranges;
  for (uint32_t row = 0; row < spans.size(); ++row) {
    const int64_t start = spans.start[row].ns, duration = std::max<int64_t>(0, spans.duration[row].ns);
    if (spans.track[row] == TrackId::kNone) {
      ++chosen.without_track;
    } else {
      ranges.push_back({Row(spans.track[row]), 0, start, SaturatingAdd(start, duration), row});
    }
  }
  SortMarksByTrack(&ranges);
  PlaceOnLines(&ranges, &chosen.lines);
  std::vector<uint8_t> is_kept(spans.size(), 1);
  if (ranges.size() > budget.max_kept) {
    std::vector<MarkOnLine> order = ranges;
    const auto middle = order.begin() + static_cast<ptrdiff_t>(budget.max_kept);
    std::nth_element(order.begin(), middle, order.end(), [](const MarkOnLine& a, const MarkOnLine& b) {
      const int64_t length_a = SaturatingSubtract(a.end, a.start), length_b = SaturatingSubtract(b.end, b.start);
      return length_a != length_b ? length_a > length_b : a.row < b.row;
    });
    for (auto range = middle; range != order.end(); ++range)
      is_kept[range->row] = 0;
  }
  std::vector<MarkOnLine> left_out;
  for (const MarkOnLine& range : ranges) {
    if (is_kept[range.row] == 0) {
      left_out.push_back(range);
      continue;
    }
    chosen.kept.push_back(range.row);
    chosen.line.push_back(range.line);
  }
  chosen.folded_count = left_out.size();
  for (const MarkBlock& block : FoldMarks(std::move(left_out), std::max<size_t>(1, budget.max_blocks)))
    chosen.folded.push_back(block.folded);
  return chosen;
}

TimelineMarks ChooseInstants(const Trace& trace, const MarkBudget& budget) {
  const InstantColumns& instants = trace.instants();
  TimelineMarks chosen;
  chosen.lines.assign(trace.tracks().size(), 0);
  std::vector<MarkOnLine> points;
  const MemoryInstants memory(trace);
  for (const uint32_t row : memory.others()) {
    const TrackId track = instants.track[row];
    if (track == TrackId::kNone) {
      ++chosen.without_track;
      continue;
    }
    points.push_back({Row(track), 0, instants.time[row].ns, instants.time[row].ns, row});
    chosen.lines[Row(track)] = 1;
  }
  for (const MarkBlock& block : FoldMarks(std::move(points), std::max<size_t>(1, budget.max_kept))) {
    if (block.folded.count == 1) {
      chosen.kept.push_back(block.row);
      chosen.line.push_back(0);
    } else {
      chosen.folded.push_back(block.folded);
      chosen.folded_count += block.folded.count;
    }
  }
  return chosen;
}

}  // namespace opscope
