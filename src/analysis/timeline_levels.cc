// Keeps the longest spans of a trace within a budget and folds the others into blocks.
//
//   budget 3:   step [0,100)  a [0,60)  b [1,4)  c [6,8)  d [60,90)   ->   kept step, a, d; folded {row 2, [1,8), 2}
//
// The cut is found without sorting: a histogram of the lengths by powers of two says in which power the cut lies, and
// a histogram by each following digit of eight bits narrows it to one length; of the spans of exactly that length the
// first ones are kept. A parent is usually at least as long as its children. Spans that cross others break that, so a
// span counts as long as the longest one inside it: then a parent is never cut before its child.
//
// Blocks are bounded in the same way: a histogram of the gaps between neighbours of a row gives the smallest gap that
// must be closed. Closing gaps by a fixed width in pixels would bound nothing, as rows differ in number.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/timeline_levels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>

#include "analysis/line_packer.h"
#include "analysis/span_measures.h"
#include "analysis/track_spans.h"
#include "base/saturating.h"

namespace opscope {
namespace {

constexpr size_t kPowers = 65;

size_t PowerOf(int64_t length) {
  return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(length)));
}

struct LeftOutSpan {
  uint32_t track, row;
  int64_t start_ns, end_ns;
};

// The block that left-out spans of one row are added to, and the last end of all of the row.
struct OpenBlock {
  FoldedSpans block;  // count 0: no span was left out so far
  int64_t end_ns = INT64_MIN;

  int64_t GapTo(int64_t start) const { return std::max<int64_t>(0, SaturatingSubtract(start, end_ns)); }

  void Start(const LeftOutSpan& span) {
    block = {span.track, span.row, span.start_ns, SaturatingSubtract(span.end_ns, span.start_ns), 1};
    end_ns = std::max(end_ns, span.end_ns);
  }
  void Join(const LeftOutSpan& span) {
    const int64_t first = std::min(block.start_ns, span.start_ns);
    const int64_t last = std::max(SaturatingAdd(block.start_ns, block.duration_ns), span.end_ns);
    block.start_ns = first;
    block.duration_ns = SaturatingSubtract(last, first);
    ++block.count;
    end_ns = std::max(end_ns, span.end_ns);
  }
};

// Makes blocks of the spans that are not in `levels->kept`, in three passes over them. The caller calls each function
// once, in this order.
class LeftOutFolder {
 public:
  LeftOutFolder(const TimelineSpans& timeline, const Trace& trace, size_t max_blocks, TimelineLevels* levels)
      : timeline_(timeline), trace_(trace), max_blocks_(max_blocks), levels_(levels) {}

  // Chooses how many rows of each track have blocks of their own. Deeper rows share the last of these.
  void ChooseDeepestRow() {
    // By row: the number of tracks that have it, and of those whose deepest row it is.
    std::vector<size_t> tracks_of_row, tracks_to_row;
    const auto mark = [](OpenBlock* open, const LeftOutSpan&) { open->block.count = 1; };
    ForEachLeftOut(mark, [&] {
      tracks_of_row.resize(std::max(tracks_of_row.size(), rows_.size()));
      tracks_to_row.resize(tracks_of_row.size());
      for (size_t row = 0; row < rows_.size(); ++row)
        tracks_of_row[row] += rows_[row].block.count;
      if (!rows_.empty()) ++tracks_to_row[rows_.size() - 1];
    });
    size_t above = 0, reaching = std::accumulate(tracks_to_row.begin(), tracks_to_row.end(), size_t{0});
    block_count_ = reaching;
    for (deepest_ = 0; deepest_ + size_t{1} < tracks_of_row.size(); ++deepest_) {
      above += tracks_of_row[deepest_];
      reaching -= tracks_to_row[deepest_];
      if (above + reaching > max_blocks_) break;
      block_count_ = above + reaching;
    }
  }

  // The smallest gap that keeps blocks apart. All longer gaps fit into the budget.
  void ChooseGap() {
    std::array<size_t, kPowers> gaps{};
    const auto count = [&](OpenBlock* open, const LeftOutSpan& span) {
      if (open->block.count == 0) return open->Start(span);
      ++gaps[PowerOf(open->GapTo(span.start_ns))];
      open->Join(span);
    };
    ForEachLeftOut(count, [] {});
    while (power_ > 0 && block_count_ + gaps[power_] <= max_blocks_)
      block_count_ += gaps[power_--];
    levels_->gap_ns = power_ >= 63 ? INT64_MAX : int64_t{1} << power_;
  }

  void WriteBlocks() {
    const auto add = [&](OpenBlock* open, const LeftOutSpan& span) {
      if (open->block.count > 0 && PowerOf(open->GapTo(span.start_ns)) <= power_) return open->Join(span);
      if (open->block.count > 0) levels_->folded.push_back(open->block);
      open->Start(span);
    };
    ForEachLeftOut(add, [&] {
      for (const OpenBlock& open : rows_)
        if (open.block.count > 0) levels_->folded.push_back(open.block);
    });
  }

 private:
  // take(open, span) of each left-out span, leave() at the end of a track. `open` is the block of the span's row.
  template <typename Take, typename Leave>
  void ForEachLeftOut(const Take& take, const Leave& leave) {
    const SpanColumns& spans = trace_.spans();
    const TrackColumns& tracks = trace_.tracks();
    const uint32_t deepest = deepest_;
    size_t next = 0;  // of levels_->kept
    for (const uint32_t track : levels_->tracks) {
      const uint32_t first = tracks.first_span[track], end = first + tracks.span_count[track];
      rows_.clear();
      for (uint32_t span = first; span < end; ++span) {
        if (next < levels_->kept.size() && levels_->kept[next] == span) {
          ++next;
          continue;
        }
        const uint32_t row = std::min(timeline_.RowOf(span), deepest);
        if (row >= rows_.size()) rows_.resize(row + size_t{1});
        const int64_t start = spans.start[span].ns;
        take(&rows_[row], LeftOutSpan{track, row, start, SaturatingAdd(start, spans.duration[span].ns)});
      }
      leave();
    }
  }

  const TimelineSpans& timeline_;
  const Trace& trace_;
  const size_t max_blocks_;
  TimelineLevels* const levels_;
  std::vector<OpenBlock> rows_;  // of one track
  uint32_t deepest_ = UINT32_MAX;
  size_t block_count_ = 0;
  size_t power_ = kPowers - 1;  // gaps of larger powers stay open
};

}  // namespace

TimelineSpans::TimelineSpans(const Trace& trace) : trace_(trace), self_ns_(MeasureSpans(trace).self_ns) {
  const SpanColumns& spans = trace.spans();
  const TrackColumns& tracks = trace.tracks();
  longest_ns_.resize(spans.size());
  for (size_t row = 0; row < spans.size(); ++row)
    longest_ns_[row] = std::max<int64_t>(0, spans.duration[row].ns);
  for (size_t row = spans.size(); row-- > 0;) {
    if (spans.parent[row] == SpanId::kNone) continue;
    int64_t& around = longest_ns_[Row(spans.parent[row])];
    around = std::max(around, longest_ns_[row]);
  }
  rows_.assign(tracks.size(), 0);
  async_first_.assign(tracks.size(), UINT32_MAX);
  async_index_.assign(tracks.size(), 0);
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const uint32_t first = tracks.first_span[track], end = first + tracks.span_count[track];
    uint32_t nested_end = end;
    while (nested_end > first && (spans.flags[nested_end - 1] & span_flags::kAsync) != 0)
      --nested_end;
    for (uint32_t row = first; row < nested_end; ++row)
      rows_[track] = std::max(rows_[track], spans.depth[row] + 1u);
    if (nested_end < end) AddAsyncRows(track, nested_end, end);
  }
}

void TimelineSpans::AddAsyncRows(uint32_t track, uint32_t first, uint32_t end) {
  const SpanColumns& spans = trace_.spans();
  async_first_[track] = first;
  async_index_[track] = static_cast<uint32_t>(async_rows_.size());
  LinePacker lines(kMaxAsyncRows);
  for (uint32_t row = first; row < end; ++row) {
    const int64_t start = spans.start[row].ns;
    async_rows_.push_back(rows_[track] + lines.Place(start, SaturatingAdd(start, spans.duration[row].ns)));
  }
  rows_[track] += lines.count();
}

uint32_t TimelineSpans::RowOf(uint32_t span) const {
  const uint32_t track = Row(trace_.spans().track[span]);
  if (span < async_first_[track]) return trace_.spans().depth[span];
  return async_rows_[async_index_[track] + (span - async_first_[track])];
}

int64_t TimelineSpans::CoveredOf(uint32_t span) const {
  return SaturatingSubtract(trace_.spans().duration[span].ns, self_ns_[span]);
}

void TimelineSpans::ChooseTracks(size_t max_tracks, TimelineLevels* levels) const {
  const TrackColumns& tracks = trace_.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track)
    if (tracks.span_count[track] > 0) levels->tracks.push_back(track);
  if (levels->tracks.size() <= max_tracks) return;
  std::vector<uint32_t>& chosen = levels->tracks;
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](uint32_t a, uint32_t b) { return tracks.span_count[a] > tracks.span_count[b]; });
  levels->left_out_tracks = chosen.size() - max_tracks;
  for (size_t i = max_tracks; i < chosen.size(); ++i)
    levels->left_out_spans += tracks.span_count[chosen[i]];
  chosen.resize(max_tracks);
  std::sort(chosen.begin(), chosen.end());
}

// The smallest length of which at least one span is kept. of_equal: how many spans of this length are.
int64_t TimelineSpans::CutOf(const std::vector<uint32_t>& tracks, size_t max_spans, size_t* of_equal) const {
  const auto visit = [&](const auto& take) {
    for (const uint32_t track : tracks) {
      const int64_t* const first = longest_ns_.data() + trace_.tracks().first_span[track];
      std::for_each(first, first + trace_.tracks().span_count[track], take);
    }
  };
  std::array<size_t, kPowers> in_power{};
  visit([&](int64_t length) { ++in_power[PowerOf(length)]; });
  size_t longer = 0, power = kPowers - 1;
  while (power > 0 && longer + in_power[power] <= max_spans)
    longer += in_power[power--];
  // Lengths in [2^(power - 1), 2^power): the digits of the cut from the highest, eight bits at a time.
  int64_t prefix = power == 0 ? 0 : int64_t{1} << (power - 1);
  for (size_t known = power == 0 ? 0 : power - 1; known > 0;) {
    const size_t bits = std::min<size_t>(8, known), shift = known - bits;
    std::array<size_t, 256> with_digit{};
    visit([&](int64_t length) {
      if (PowerOf(length) == power && length >> known == prefix >> known)
        ++with_digit[static_cast<size_t>(length >> shift) & ((size_t{1} << bits) - 1)];
    });
    size_t digit = (size_t{1} << bits) - 1;
    while (digit > 0 && longer + with_digit[digit] <= max_spans)
      longer += with_digit[digit--];
    prefix |= static_cast<int64_t>(digit) << shift;
    known = shift;
  }
  *of_equal = max_spans - longer;
  return prefix;
}

TimelineLevels TimelineSpans::Choose(const TimelineBudget& budget) const {
  const SpanColumns& spans = trace_.spans();
  TimelineLevels levels;
  ChooseTracks(std::max<size_t>(1, budget.max_tracks), &levels);
  const size_t all = spans.size() - levels.left_out_spans;
  size_t of_equal = 0;
  const bool keeps_all = all <= budget.max_spans;
  const int64_t cut = keeps_all ? -1 : CutOf(levels.tracks, budget.max_spans, &of_equal);
  const size_t kept = std::min(all, budget.max_spans);
  levels.kept.reserve(kept);
  levels.row.reserve(kept);
  levels.covered_ns.reserve(kept);
  for (const uint32_t track : levels.tracks) {
    for (const uint32_t span : SpansOfTrack(trace_, track)) {
      if (longest_ns_[span] < cut || (longest_ns_[span] == cut && of_equal == 0)) {
        levels.longest_folded_ns = std::max(levels.longest_folded_ns, longest_ns_[span]);
        continue;
      }
      if (longest_ns_[span] == cut) --of_equal;
      levels.kept.push_back(span);
      levels.row.push_back(RowOf(span));
      levels.covered_ns.push_back(CoveredOf(span));
    }
  }
  levels.folded_spans = all - levels.kept.size();
  if (levels.folded_spans > 0) Fold(std::max<size_t>(1, budget.max_blocks), &levels);
  return levels;
}

void TimelineSpans::Fold(size_t max_blocks, TimelineLevels* levels) const {
  LeftOutFolder folder(*this, trace_, max_blocks, levels);
  folder.ChooseDeepestRow();
  folder.ChooseGap();
  folder.WriteBlocks();
  std::sort(levels->folded.begin(), levels->folded.end(), [](const FoldedSpans& a, const FoldedSpans& b) {
    return std::tuple(a.track, a.row, a.start_ns) < std::tuple(b.track, b.row, b.start_ns);
  });
}

}  // namespace opscope
