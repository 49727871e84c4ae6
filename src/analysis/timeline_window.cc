// Chooses what a timeline shows of a range of time.
//
//   one line, pixels of 10 ns:   a [0,30)  b [31,32)  c [33,35)  d [60,61)   ->   kept a, d; one block [31,35) of 2
//
// A line holds at most one kept span and one block per pixel, so the answer depends on the width and not on the trace.
// A short span without neighbours is kept: its name costs no more than a block.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/timeline_window.h"

#include <algorithm>
#include <tuple>

#include "analysis/track_spans.h"
#include "base/saturating.h"

namespace opscope {
namespace {

class WindowChoice {
 public:
  WindowChoice(const Trace& trace, const TimelineSpans& timeline, const TimelineRange& range, int64_t pixel)
      : trace_(trace), spans_(trace.spans()), timeline_(timeline), range_(range), pixel_(pixel) {
    levels_.gap_ns = pixel;
  }

  void AddTrack(uint32_t track) {
    levels_.tracks.push_back(track);
    blocks_.assign(timeline_.RowsOf(track), {});
    first_kept_ = levels_.kept.size();
    for (const uint32_t span : SpansOfTrack(trace_, track)) {
      const auto [start, span_end] = TimeOfSpan(spans_, span);
      const int64_t duration = spans_.duration[span].ns;
      if (start >= range_.end_ns) continue;
      if (span_end <= range_.begin_ns && !(duration == 0 && start == range_.begin_ns)) continue;
      if (duration >= pixel_) {
        Keep(span);
      } else {
        Fold(track, timeline_.RowOf(span), span, start, span_end);
      }
    }
    for (OpenWindowBlock& block : blocks_)
      Finish(block);
    std::sort(levels_.kept.begin() + static_cast<std::ptrdiff_t>(first_kept_), levels_.kept.end());
  }

  size_t size() const { return levels_.kept.size() + levels_.folded.size(); }

  TimelineLevels Take() && {
    for (const uint32_t span : levels_.kept) {
      levels_.row.push_back(timeline_.RowOf(span));
      levels_.covered_ns.push_back(timeline_.CoveredOf(span));
    }
    for (const FoldedSpans& block : levels_.folded)
      levels_.folded_spans += block.count;
    std::sort(levels_.folded.begin(), levels_.folded.end(), [](const FoldedSpans& a, const FoldedSpans& b) {
      return std::tuple(a.track, a.row, a.start_ns) < std::tuple(b.track, b.row, b.start_ns);
    });
    return std::move(levels_);
  }

 private:
  struct OpenWindowBlock {
    FoldedSpans block;  // count 0: no span was left out so far
    int64_t end_ns = 0;
    uint32_t span = 0;  // its first span
  };

  void Keep(uint32_t span) { levels_.kept.push_back(span); }

  void Fold(uint32_t track, uint32_t row, uint32_t span, int64_t start, int64_t end) {
    OpenWindowBlock& open = blocks_[row];
    if (open.block.count > 0 && SaturatingSubtract(start, open.end_ns) < pixel_) {
      open.block.start_ns = std::min(open.block.start_ns, start);
      open.end_ns = std::max(open.end_ns, end);
      ++open.block.count;
      return;
    }
    Finish(open);
    open = {{track, row, start, 0, 1}, end, span};
  }

  void Finish(OpenWindowBlock& open) {
    if (open.block.count == 1) Keep(open.span);
    open.block.duration_ns = SaturatingSubtract(open.end_ns, open.block.start_ns);
    if (open.block.count > 1) levels_.folded.push_back(open.block);
    open.block.count = 0;
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  const TimelineSpans& timeline_;
  const TimelineRange& range_;
  int64_t pixel_;
  std::vector<OpenWindowBlock> blocks_;  // by line of the track
  size_t first_kept_ = 0;
  TimelineLevels levels_;
};

}  // namespace

TimelineLevels TimelineWindow(const Trace& trace, const TimelineSpans& spans, const TimelineRange& range) {
  if (range.begin_ns >= range.end_ns) return {};
  const int64_t length = SaturatingSubtract(range.end_ns, range.begin_ns);
  int64_t pixel = std::max<int64_t>(1, length / std::max<uint32_t>(1, range.pixels));
  std::vector<uint32_t> tracks = range.tracks;
  if (tracks.empty()) {
    for (uint32_t track = 0; track < trace.tracks().size(); ++track)
      if (trace.tracks().span_count[track] > 0) tracks.push_back(track);
  }
  while (true) {
    WindowChoice choice(trace, spans, range, pixel);
    for (const uint32_t track : tracks) {
      choice.AddTrack(track);
      if (choice.size() > range.max_items && pixel < length) break;
    }
    if (choice.size() <= range.max_items || pixel >= length) return std::move(choice).Take();
    pixel = pixel > length / 4 ? length : pixel * 4;
  }
}

}  // namespace opscope
