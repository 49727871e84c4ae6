// Each kind of pair is sorted by what joins it and by time, stably, so that equal times keep the order of the file;
// then every run of equal keys is joined by itself with a stack or a cursor:
//
//   B, E       by track: a stack of open begins; an E ends the newest
//   b, e       by category and id: an e ends the newest open b of its name
//   s, t, f    by id: a cursor on the latest start
//
// Sorting at the end, instead of a map of open begins while reading, makes the result independent of the order of the
// file, which tools that merge streams do not sort. Flows are mostly in order already, so their sort looks for runs
// first (base/natural_sort.h).
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/pairs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "base/natural_sort.h"
#include "import/chrome/args.h"
#include "import/chrome/argument_ranges.h"
#include "import/text/open_begins.h"

namespace opscope {
namespace {

// Copies the columns that the end has: of two values the later wins, as in `extra`.
void TakeColumns(const SpanRow& end, SpanRow* begin) {
  if (end.args != ArgsId::kNone) begin->args = end.args;
  if (end.stack != StackId::kNone) begin->stack = end.stack;
  if (end.sequence >= 0) begin->sequence = end.sequence, begin->forward_thread = end.forward_thread;
  if (end.correlation != 0) begin->correlation = end.correlation;
  if (end.external_id != 0) begin->external_id = end.external_id;
}

// A flow id for `id`, which is unique only together with `within`.
uint64_t UniqueFlowId(uint64_t id, uint64_t within) {
  const uint64_t both[] = {id, within};
  return HashBytes(std::as_bytes(std::span(both))) >> 11;  // readers of JSON preserve 53 bits
}

// Row numbers of `rows` ordered by `key`, equal keys in the order of the file.
template <typename Rows, typename Key>
std::vector<uint32_t> OrderBy(const Rows& rows, Key key) {
  std::vector<uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(rows[a]) < key(rows[b]); });
  return order;
}

// Calls `join(first, last)` for every run of `order` whose rows have the same key.
template <typename Rows, typename Order, typename Key, typename Join>
void ForEachGroup(const Rows& rows, const Order& order, Key key, Join join) {
  for (size_t first = 0; first < order.size();) {
    size_t last = first + 1;
    while (last < order.size() && key(rows[order[last]]) == key(rows[order[first]]))
      ++last;
    join(first, last);
    first = last;
  }
}

}  // namespace

template <typename Visit>
void ChromePairs::ForEachTime(Visit visit) {
  for (Half& half : halves_)
    visit(&half.row.start);
  for (AsyncHalf& half : async_halves_)
    visit(&half.row.start);
  for (size_t i = 0; i < flow_points_.size(); ++i)
    visit(&flow_points_[i].time);
}

void ChromePairs::FillMissingTimes() {
  Timestamp first = kNoTime;
  ForEachTime([&](const Timestamp* time) { first = EarlierOf(first, *time); });
  first = builder_->FillMissingTimes(first);
  ForEachTime([&](Timestamp* time) {
    if (*time == kNoTime) *time = first;
  });
}

// If both have a member, the end's value is used.
template <typename End>
void ChromePairs::MergeMembers(const End& end, End* begin) {
  const uint64_t before = replaced_.count;
  begin->row.extra = MergeExtra(begin->row.extra, end.row.extra, builder_, &replaced_.count);
  if (before == 0) replaced_.first_offset = end.offset;
}

// `order`: the halves of one track.
uint64_t ChromePairs::JoinHalvesOfTrack(std::span<const uint32_t> order) {
  uint64_t lost = 0;
  std::vector<uint32_t> open;
  ArgumentRanges inputs(dialects_, builder_);
  for (const uint32_t i : order) {
    Half& half = halves_[i];
    if (half.begin) {
      half.row.depth = static_cast<uint16_t>(std::min<size_t>(open.size(), UINT16_MAX));
      open.push_back(i);
      continue;
    }
    if (open.empty()) {
      builder_->AddProblem("stray_end", half.offset);
      ++lost;
      continue;
    }
    Half& begin = halves_[open.back()];
    open.pop_back();
    if (half.row.name != StringId::kEmpty && half.row.name != begin.row.name) {
      builder_->AddProblem("mismatched_end", half.offset);
    }
    begin.row.duration = half.row.start - begin.row.start;
    TakeColumns(half.row, &begin.row);
    MergeMembers(half, &begin);
    inputs.End(open.size(), &begin.row);
  }
  for (const uint32_t i : open) {
    Half& begin = halves_[i];
    builder_->AddProblem("unclosed_begin", begin.offset);
    begin.row.duration = std::max(Timestamp{tracks_->last_ns(begin.row.track)}, begin.row.start) - begin.row.start;
  }
  return lost;
}

// On a track with complete spans, each begin keeps its place in the file, because of equal intervals the first is the
// parent. On a track without, begins take the places in order of time, which is pre-order, so their depths are known.
// track they take its places in order of time, which is pre-order, and their depths are known.
void ChromePairs::SetSpansOfTrack(std::span<const uint32_t> order, size_t spans_of_track) {
  std::vector<const Half*> begins;
  std::vector<AddedSpan> places;
  bool is_depth_known = true;
  for (const uint32_t i : order) {
    if (!halves_[i].begin) continue;
    begins.push_back(&halves_[i]);
    places.push_back(halves_[i].span);
    is_depth_known &= halves_[i].row.depth != UINT16_MAX;
  }
  if (begins.size() == spans_of_track && is_depth_known && !begins.empty()) {
    std::sort(places.begin(), places.end());
    builder_->SetPreOrdered(begins[0]->row.track);
  }
  for (size_t i = 0; i < begins.size(); ++i) {
    const Half& begin = *begins[i];
    builder_->SetSpan(places[i], begin.row);
    if (begin.step >= 0) builder_->AddStep(begin.step, begin.row.name, places[i]);
    if (places[i] != begin.span) moved_.emplace(begin.span, places[i]);
  }
}

uint64_t ChromePairs::JoinHalves() {
  if (halves_.empty()) return 0;
  uint64_t lost = 0;
  std::vector<size_t> spans_of_track(builder_->track_count(), 0);
  for (const TrackId track : builder_->added_spans().track)
    ++spans_of_track[Row(track)];
  const auto track_of = [](const Half& h) { return h.row.track; };
  const auto order = OrderBy(halves_, [](const Half& h) { return std::tuple(h.row.track, h.row.start); });
  ForEachGroup(halves_, order, track_of, [&](size_t first, size_t last) {
    const auto of_track = std::span(order).subspan(first, last - first);
    lost += JoinHalvesOfTrack(of_track);
    SetSpansOfTrack(of_track, spans_of_track[Row(track_of(halves_[order[first]]))]);
  });
  return lost;
}

uint64_t ChromePairs::JoinAsyncHalves() {
  uint64_t lost = 0;
  const auto key = [this](const AsyncHalf& h) {
    const ProcessId process = h.is_local ? builder_->track(h.row.track).process : ProcessId::kNone;
    return std::tuple(h.row.category, h.pairing_id, process);
  };
  const auto order =
      OrderBy(async_halves_, [&](const AsyncHalf& h) { return std::tuple_cat(key(h), std::tuple(h.row.start)); });
  std::vector<uint32_t> whole;
  OpenBegins open;
  ForEachGroup(async_halves_, order, key, [&](size_t first, size_t last) {
    open.Clear();
    for (size_t i = first; i < last; ++i) {
      AsyncHalf& half = async_halves_[order[i]];
      if (half.begin) {
        open.Open(order[i], half.row.name);
        continue;
      }
      if (open.empty()) {
        builder_->AddProblem("unpaired_async", half.offset);
        ++lost;
        continue;
      }
      const std::optional<uint32_t> of_name = open.CloseNewest(half.row.name);
      const uint32_t match = of_name ? *of_name : open.CloseNewest();
      AsyncHalf& begin = async_halves_[match];
      whole.push_back(match);
      begin.row.duration = half.row.start - begin.row.start;
      MergeMembers(half, &begin);
    }
    open.ForEach([&](uint32_t i) { builder_->AddProblem("unpaired_async", async_halves_[i].offset); });
    lost += open.size();
  });
  std::sort(whole.begin(), whole.end());
  for (const uint32_t i : whole)
    builder_->AddAsyncSpan(async_halves_[i].row);
  return lost;
}

uint64_t ChromePairs::JoinFlows() {
  // The flows of one category are mostly in order of id, those of all categories are not. kNone: bind_ids, which join
  // across categories.
  // categories.
  std::map<StringId, Column<uint32_t>> of_category;
  for (uint32_t i = 0; i < flow_points_.size(); ++i)
    of_category[flow_points_[i].is_binding ? StringId::kNone : flow_points_[i].category].push_back(i);
  uint64_t lost = 0;
  for (auto& [category, order] : of_category) {
    const auto domain_of = [](const FlowPoint& p) { return std::pair(uint64_t{p.id}, uint64_t{p.domain}); };
    const auto place = [&](uint32_t i) {
      return std::tuple(domain_of(flow_points_[i]), flow_points_[i].time, uint64_t{flow_points_[i].order});
    };
    NaturalSort(&order, [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
    std::optional<uint64_t> taken;
    ForEachGroup(flow_points_, order, domain_of, [&](size_t first, size_t last) {
      const auto points = order.view().subspan(first, last - first);
      const uint64_t id = flow_points_[points[0]].id;
      if (taken == id) Renumber(points);
      taken = id;
      lost += JoinFlow(points);
    });
  }
  return lost;
}

// A flow of the Trace has no domain, and another domain has used this number.
void ChromePairs::Renumber(std::span<const uint32_t> points) {
  const FlowPoint& first = flow_points_[points[0]];
  const uint64_t number = UniqueFlowId(first.id, first.domain);
  for (const uint32_t i : points)
    flow_points_[i].id = number;
}

AddedSpan ChromePairs::SpanOf(const FlowPoint& point) const {
  const auto moved = moved_.find(point.span);
  return moved == moved_.end() ? point.span : moved->second;
}

void ChromePairs::AddFlow(const FlowPoint& from, const FlowPoint& to) {
  FlowRow row{.id = from.id,
              .category = from.category,
              .name = from.name,
              .start_time = from.time,
              .start_track = from.track,
              .start_span = SpanOf(from),
              .end_time = to.time,
              .end_track = to.track,
              .end_span = SpanOf(to)};
  if (from.domain != 0 || from.is_global) {
    const auto scope = flow_scopes_.find(2 * from.domain + from.is_global);
    if (scope != flow_scopes_.end()) row.id_scope = scope->second;
  }
  // Another arrow of this id may begin where this one ends. An export writes them as separate events, so each needs an
  // id of its own.
  if (from.is_binding) row.id = UniqueFlowId(from.id, from.offset);
  builder_->AddFlow(row);
}

// Joins the points of one id, passed in order of time. An end belongs to the latest start; ends before all starts
// belong to the first one. Of starts at one time the last is used.
// all starts belong to the first one. Of starts at one time the last counts.
class ChromePairs::FlowJoiner {
 public:
  // points: all of one id, ordered by time and `order`.
  FlowJoiner(ChromePairs* pairs, std::span<const uint32_t> points)
      : pairs_(pairs),
        points_(points),
        are_bindings_(PointAt(0).is_binding),
        starts_share_an_end_(pairs->dialects_.SharesEnds(pairs->builder_->text(PointAt(0).category))) {
    const auto is_start = [&](uint32_t point) { return pairs_->flow_points_[point].is_start(); };
    current_ = static_cast<size_t>(std::find_if(points.begin(), points.end(), is_start) - points.begin());
    for (size_t next = current_ + 1; next < points.size(); ++next) {
      if (!PointAt(next).is_start() || PointAt(next).time != PointAt(current_).time) break;
      Lose(current_);
      current_ = next;
    }
  }

  void OnStart(size_t i) {
    if (i <= current_) return;
    if (!is_current_used_ && starts_share_an_end_) waiting_.push_back(current_);
    if (!is_current_used_ && !starts_share_an_end_) Lose(current_);
    current_ = i;
    is_current_used_ = false;
  }

  void OnEnd(size_t i) {
    if (!has_start() || (are_bindings_ && i < current_)) return Lose(i);
    if (starts_share_an_end_ && RepeatsEndBefore(i)) return;
    for (const size_t start : waiting_)
      pairs_->AddFlow(PointAt(start), PointAt(i));
    waiting_.clear();
    pairs_->AddFlow(PointAt(current_), PointAt(i));
    is_current_used_ = true;
  }

  // Call after the last point. Returns the number of events without a partner.
  uint64_t Close() {
    for (const size_t start : waiting_)
      Lose(start);
    if (has_start() && !is_current_used_) Lose(current_);
    return lost_;
  }

 private:
  const FlowPoint& PointAt(size_t i) const { return pairs_->flow_points_[points_[i]]; }
  bool has_start() const { return current_ < points_.size(); }

  // An export by opscope of flows that share an end has an end for each start.
  bool RepeatsEndBefore(size_t i) const {
    if (i == 0 || PointAt(i - 1).is_start()) return false;
    return PointAt(i - 1).time == PointAt(i).time && PointAt(i - 1).track == PointAt(i).track;
  }

  void Lose(size_t i) {
    pairs_->builder_->AddProblem("unpaired_flow", static_cast<int64_t>(PointAt(i).offset));
    lost_ += are_bindings_ ? 0 : 1;  // their events are ranges, which are kept
  }

  ChromePairs* const pairs_;
  const std::span<const uint32_t> points_;
  const bool are_bindings_, starts_share_an_end_;
  size_t current_ = 0;  // the start to which ends belong; points_.size(): no start yet
  bool is_current_used_ = false;
  std::vector<size_t> waiting_;  // if starts share an end: earlier starts that wait for the next end
  uint64_t lost_ = 0;
};

uint64_t ChromePairs::JoinFlow(std::span<const uint32_t> points) {
  FlowJoiner joiner(this, points);
  for (size_t i = 0; i < points.size(); ++i) {
    if (flow_points_[points[i]].is_start()) {
      joiner.OnStart(i);
    } else {
      joiner.OnEnd(i);
    }
  }
  return joiner.Close();
}

uint64_t ChromePairs::Finish() {
  return JoinHalves() + JoinAsyncHalves() + JoinFlows();
}

uint64_t ChromePairs::memory_bytes() const {
  return halves_.capacity() * sizeof(Half) + async_halves_.capacity() * sizeof(AsyncHalf) + flow_points_.memory_bytes();
}

}  // namespace opscope
