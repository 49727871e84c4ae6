// Finds the span of each allocation by one sweep per thread over spans by begin and allocations by time. A stack holds
// the spans that are open at the next allocation; a span that ends before it is never pushed, so most spans cost two
// loads and a comparison. The top of the stack is the span that began last. Behind an allocation, spans that end before
// the next one are dropped from the top.
//
//   spans  a [0, 10)  b [5, 15)      stack at 7: a b, b owns      at 12: a b, b owns      at 20: empty
//
// A search per allocation up the parents would be shorter, but costs the depth for each allocation, and it would not
// find b at 12, since spans that cross the end of their parent are clipped for nesting.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/allocation_spans.h"

#include <algorithm>

#include "analysis/host_spans.h"
#include "base/saturating.h"

namespace opscope {
namespace {

int64_t EndOf(const SpanColumns& spans, uint32_t span) {
  return SaturatingAdd(spans.start[span].ns, spans.duration[span].ns);
}

// Gives a sweep the spans that for_each(use) gives. If they turn out not to come by begin, as rows of a damaged file
// may, gives them all again to a new one, sorted. `Sweep` has Add(span), false if the span begins before the one before
// it.
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

// The times of the allocations of one thread, one after the other.
class TimesOfAllocations {
 public:
  TimesOfAllocations(const Trace& trace, std::span<const uint32_t> rows)
      : times_(trace.allocations().time), rows_(rows) {
    Load();
  }
  bool is_at_end() const { return next_ == rows_.size(); }
  // INT64_MAX at the end.
  int64_t time() const { return time_; }
  uint32_t row() const { return rows_[next_]; }
  void Advance() {
    ++next_;
    Load();
  }

 private:
  void Load() { time_ = is_at_end() ? INT64_MAX : times_[rows_[next_]].ns; }

  std::span<const Timestamp> times_;
  std::span<const uint32_t> rows_;
  size_t next_ = 0;
  int64_t time_ = INT64_MAX;
};

// Names the allocations of one thread.
class OperatorSweep {
 public:
  OperatorSweep(const Trace& trace, std::span<const uint32_t> rows, std::vector<StringId>* names)
      : spans_(trace.spans()), next_(trace, rows), names_(names) {}

  bool Add(uint32_t span) {
    const int64_t begin = spans_.start[span].ns;
    if (begin < last_begin_) return false;
    last_begin_ = begin;
    while (next_.time() < begin)
      NameNext();
    const int64_t end = EndOf(spans_, span);
    if (end > next_.time()) open_.push_back({end, spans_.name[span]});
    return true;
  }

  void Finish() {
    while (!next_.is_at_end())
      NameNext();
  }

 private:
  struct Open {
    int64_t end;
    StringId name;
  };

  void NameNext() {
    // Names that an earlier sweep of the thread gave are replaced.
    (*names_)[next_.row()] = open_.empty() ? StringId::kNone : open_.back().name;
    next_.Advance();
    while (!open_.empty() && open_.back().end <= next_.time())
      open_.pop_back();
  }

  const SpanColumns& spans_;
  TimesOfAllocations next_;  // the first without a name
  std::vector<StringId>* names_;
  int64_t last_begin_ = INT64_MIN;
  std::vector<Open> open_;  // the last one is open at the time of next_
};

// Marks the allocations of one thread at whose time one of the spans is open.
class SelectionSweep {
 public:
  SelectionSweep(const Trace& trace, std::span<const uint32_t> rows, std::vector<uint8_t>* chosen)
      : spans_(trace.spans()), next_(trace, rows), chosen_(chosen) {}

  bool Add(uint32_t span) {
    const int64_t begin = spans_.start[span].ns;
    if (begin < last_begin_) return false;
    last_begin_ = begin;
    while (next_.time() < begin)
      MarkNext();
    open_until_ = std::max(open_until_, EndOf(spans_, span));
    return true;
  }

  void Finish() {
    while (!next_.is_at_end())
      MarkNext();
  }

 private:
  void MarkNext() {
    (*chosen_)[next_.row()] = next_.time() < open_until_;
    next_.Advance();
  }

  const SpanColumns& spans_;
  TimesOfAllocations next_;  // the first that is not decided
  std::vector<uint8_t>* chosen_;
  int64_t last_begin_ = INT64_MIN;
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
    SweepByBegin(trace, [&](const auto& use) { host.ForEach(track, use); }, OperatorSweep(trace, rows, &names));
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
      const uint32_t first = trace.tracks().first_span[track], end = first + trace.tracks().span_count[track];
      for (uint32_t span = first; span < end; ++span)
        if (selected[span] != 0 && (trace.spans().flags[span] & span_flags::kAsync) == 0) use(span);
    };
    SweepByBegin(trace, for_each_selected, SelectionSweep(trace, rows, &chosen));
  }
  return chosen;
}

}  // namespace opscope
