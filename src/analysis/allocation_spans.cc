// Finds the span of each allocation by one sweep per thread over spans by begin and allocations by time. A stack holds
// the spans that are open at the next allocation; a span that ends before it is never pushed, so most spans cost two
// loads and a comparison. The top of the stack is the span that began last. At an allocation, spans that ended are
// dropped from the top.
//
//   spans  a [0, 10)  b [5, 15)      stack at 7: a b, b owns      at 12: a b, b owns      at 20: empty
//
// A search per allocation up the parents would be shorter, but costs the depth for each allocation, and it would not
// find b at 12, since spans that cross the end of their parent are clipped for nesting.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/allocation_spans.h"

#include <algorithm>
#include <utility>

#include "analysis/host_spans.h"
#include "analysis/track_spans.h"
#include "base/saturating.h"

namespace opscope {
namespace {

int64_t EndOf(const SpanColumns& spans, uint32_t span) {
  return SaturatingAdd(spans.start[span].ns, spans.duration[span].ns);
}

// One pass over the spans of a thread by begin and its allocations by time. `Answer` has Open(span, time of the next
// allocation) for each span, and Set(row, time) for each allocation, after the spans that begin at its time or before.
template <typename Answer>
class AllocationSweep {
 public:
  // `rows`: of `allocations`, by time.
  AllocationSweep(const Trace& trace, std::span<const uint32_t> rows, Answer answer)
      : starts_(trace.spans().start), times_(trace.allocations().time), rows_(rows), answer_(std::move(answer)) {
    LoadTime();
  }

  // False, and nothing done, if the span begins before the one before it.
  bool Add(uint32_t span) {
    const int64_t begin = starts_[span].ns;
    if (begin < last_begin_) return false;
    last_begin_ = begin;
    while (time_ < begin)
      SetNext();
    answer_.Open(span, time_);
    return true;
  }

  void Finish() {
    while (next_ < rows_.size())
      SetNext();
  }

 private:
  void LoadTime() { time_ = next_ == rows_.size() ? INT64_MAX : times_[rows_[next_]].ns; }
  void SetNext() {
    answer_.Set(rows_[next_++], time_);
    LoadTime();
  }

  std::span<const Timestamp> starts_, times_;
  std::span<const uint32_t> rows_;
  Answer answer_;
  size_t next_ = 0;  // in rows_: the first without an answer
  int64_t time_;     // of that one; INT64_MAX: all have an answer
  int64_t last_begin_ = INT64_MIN;
};

// Gives a sweep the spans that for_each(use) gives. If they do not come by begin, as rows of a damaged file may, gives
// them all again, sorted, to a new sweep, which sets the answers of the first one anew.
template <typename Sweep, typename ForEach>
void SweepByBegin(const Trace& trace, const ForEach& for_each, Sweep sweep) {
  Sweep ordered = sweep;
  bool is_ordered = true;
  for_each([&](uint32_t span) { is_ordered = is_ordered && ordered.Add(span); });
  if (is_ordered) return ordered.Finish();
  const auto start = trace.spans().start;
  std::vector<uint32_t> rows;
  for_each([&](uint32_t span) { rows.push_back(span); });
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) { return start[a] < start[b]; });
  for (const uint32_t span : rows)
    sweep.Add(span);
  sweep.Finish();
}

// The name of the innermost open span.
class OperatorAnswer {
 public:
  OperatorAnswer(const Trace& trace, std::vector<StringId>* names) : spans_(trace.spans()), names_(names) {}

  void Open(uint32_t span, int64_t next_time) {
    const int64_t end = EndOf(spans_, span);
    if (end > next_time) open_.push_back({end, spans_.name[span]});
  }
  void Set(uint32_t row, int64_t time) {
    while (!open_.empty() && open_.back().end <= time)
      open_.pop_back();
    (*names_)[row] = open_.empty() ? StringId::kNone : open_.back().name;
  }

 private:
  struct OpenSpan {
    int64_t end;
    StringId name;
  };

  const SpanColumns& spans_;
  std::vector<StringId>* names_;
  std::vector<OpenSpan> open_;  // in order of begin
};

// Whether a span is open.
class SelectionAnswer {
 public:
  SelectionAnswer(const Trace& trace, std::vector<uint8_t>* chosen) : spans_(trace.spans()), chosen_(chosen) {}

  void Open(uint32_t span, int64_t) { open_until_ = std::max(open_until_, EndOf(spans_, span)); }
  void Set(uint32_t row, int64_t time) { (*chosen_)[row] = time < open_until_; }

 private:
  const SpanColumns& spans_;
  std::vector<uint8_t>* chosen_;
  int64_t open_until_ = INT64_MIN;  // the largest end of the spans so far
};

}  // namespace

AllocationsByTrack::AllocationsByTrack(const Trace& trace) : first_(trace.tracks().size() + 1, 0) {
  const AllocationColumns& allocations = trace.allocations();
  const uint32_t tracks = static_cast<uint32_t>(trace.tracks().size());
  for (const TrackId track : allocations.track)
    if (Row(track) < tracks) ++first_[Row(track) + 1];
  for (uint32_t track = 0; track < tracks; ++track)
    first_[track + 1] += first_[track];
  rows_.resize(first_[tracks]);
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (uint32_t row = 0; row < allocations.size(); ++row)
    if (const uint32_t track = Row(allocations.track[row]); track < tracks) rows_[next[track]++] = row;
  const auto is_before = [&](uint32_t a, uint32_t b) { return allocations.time[a] < allocations.time[b]; };
  for (uint32_t track = 0; track < tracks; ++track) {
    const auto begin = rows_.begin() + first_[track], end = rows_.begin() + first_[track + 1];
    if (!std::is_sorted(begin, end, is_before)) std::stable_sort(begin, end, is_before);
  }
}

std::vector<StringId> OperatorsOfAllocations(const Trace& trace, const AllocationsByTrack& by_track) {
  std::vector<StringId> names(trace.allocations().size(), StringId::kNone);
  const HostSpans host(trace);
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    const std::span<const uint32_t> rows = by_track.Of(track);
    if (rows.empty()) continue;
    SweepByBegin(
        trace, [&](const auto& use) { host.ForEach(track, use); },
        AllocationSweep(trace, rows, OperatorAnswer(trace, &names)));
  }
  return names;
}

std::vector<uint8_t> SelectAllocations(const Trace& trace, const AllocationsByTrack& by_track,
                                       const std::vector<uint8_t>& selected) {
  std::vector<uint8_t> chosen(trace.allocations().size(), 0);
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    const std::span<const uint32_t> rows = by_track.Of(track);
    if (rows.empty()) continue;
    const auto for_each_selected = [&](const auto& use) {
      for (const uint32_t span : SpansOfTrack(trace, track))
        if (selected[span] != 0 && (trace.spans().flags[span] & span_flags::kAsync) == 0) use(span);
    };
    SweepByBegin(trace, for_each_selected, AllocationSweep(trace, rows, SelectionAnswer(trace, &chosen)));
  }
  return chosen;
}

}  // namespace opscope
