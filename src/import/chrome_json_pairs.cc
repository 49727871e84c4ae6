// SPDX-License-Identifier: Apache-2.0
#include "import/chrome_json_pairs.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "import/chrome_json_args.h"
#include "import/megengine_timeline.h"

namespace opscope {
namespace {

// What the members of an end say, where they say it; of two the later wins, as in `extra`.
void TakeColumns(const SpanRow& end, SpanRow* begin) {
  if (end.args != ArgsId::kNone) begin->args = end.args;
  if (end.stack != StackId::kNone) begin->stack = end.stack;
  if (end.sequence >= 0) begin->sequence = end.sequence, begin->forward_thread = end.forward_thread;
  if (end.correlation != 0) begin->correlation = end.correlation;
  if (end.external_id != 0) begin->external_id = end.external_id;
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
template <typename Rows, typename Key, typename Join>
void ForEachGroup(const Rows& rows, const std::vector<uint32_t>& order, Key key, Join join) {
  for (size_t first = 0; first < order.size();) {
    size_t last = first + 1;
    while (last < order.size() && key(rows[order[last]]) == key(rows[order[first]]))
      ++last;
    join(first, last);
    first = last;
  }
}

}  // namespace

uint64_t ChromePairs::JoinHalvesOfTrack(const std::vector<uint32_t>& order, size_t first, size_t last) {
  uint64_t lost = 0;
  std::vector<uint32_t> open;
  InputLists inputs(builder_);
  for (size_t i = first; i < last; ++i) {
    Half& half = halves_[order[i]];
    if (half.begin) {
      open.push_back(order[i]);
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
    begin.row.extra = MergeExtra(begin.row.extra, half.row.extra, builder_);
    inputs.End(open.size(), &begin.row);
  }
  for (const uint32_t i : open) {
    Half& begin = halves_[i];
    builder_->AddProblem("unclosed_begin", begin.offset);
    begin.row.duration = Timestamp{tracks_->last_ns(begin.row.track)} - begin.row.start;
  }
  return lost;
}

uint64_t ChromePairs::JoinHalves() {
  uint64_t lost = 0;
  const auto order = OrderBy(halves_, [](const Half& h) { return std::tuple(h.row.track, h.row.start); });
  ForEachGroup(
      halves_, order, [](const Half& h) { return h.row.track; },
      [&](size_t first, size_t last) { lost += JoinHalvesOfTrack(order, first, last); });
  // In the order of the file: of equal intervals the first is the parent.
  for (const Half& half : halves_) {
    if (half.begin) builder_->AddSpan(half.row);
  }
  return lost;
}

uint64_t ChromePairs::JoinAsyncHalves() {
  uint64_t lost = 0;
  const auto key = [](const AsyncHalf& h) { return std::tuple(h.row.category, h.row.id); };
  const auto order =
      OrderBy(async_halves_, [&](const AsyncHalf& h) { return std::tuple_cat(key(h), std::tuple(h.row.start)); });
  std::vector<uint32_t> whole;
  ForEachGroup(async_halves_, order, key, [&](size_t first, size_t last) {
    std::vector<uint32_t> open;
    for (size_t i = first; i < last; ++i) {
      AsyncHalf& half = async_halves_[order[i]];
      if (half.begin) {
        open.push_back(order[i]);
        continue;
      }
      if (open.empty()) {
        builder_->AddProblem("unpaired_async", half.offset);
        ++lost;
        continue;
      }
      auto match = std::find_if(open.rbegin(), open.rend(),
                                [&](uint32_t b) { return async_halves_[b].row.name == half.row.name; });
      if (match == open.rend()) match = open.rbegin();
      AsyncHalf& begin = async_halves_[*match];
      whole.push_back(*match);
      open.erase(std::next(match).base());
      begin.row.duration = half.row.start - begin.row.start;
      begin.row.extra = MergeExtra(begin.row.extra, half.row.extra, builder_);
    }
    for (const uint32_t i : open)
      builder_->AddProblem("unpaired_async", async_halves_[i].offset);
    lost += open.size();
  });
  std::sort(whole.begin(), whole.end());
  for (const uint32_t i : whole)
    builder_->AddAsyncSpan(async_halves_[i].row);
  return lost;
}

void ChromePairs::LoseFlow(const FlowPoint& point) {
  builder_->AddProblem("unpaired_flow", static_cast<int64_t>(point.offset));
}

uint64_t ChromePairs::JoinFlows() {
  uint64_t lost = 0;
  const auto key = [](const FlowPoint& p) { return std::tuple(p.category, p.id); };
  // Starts before ends of the same time.
  const auto order =
      OrderBy(flow_points_, [&](const FlowPoint& p) { return std::tuple_cat(key(p), std::tuple(p.time, !p.start)); });
  ForEachGroup(flow_points_, order, key, [&](size_t first, size_t last) {
    const auto is_start = [&](uint32_t i) { return flow_points_[i].start; };
    const auto begin = order.begin() + static_cast<ptrdiff_t>(first);
    const auto end = order.begin() + static_cast<ptrdiff_t>(last);
    // Of starts at one time the last counts, also for the ends before all starts.
    auto current = std::find_if(begin, end, is_start);
    while (current != end && std::next(current) != end && is_start(*std::next(current)) &&
           flow_points_[*std::next(current)].time == flow_points_[*current].time) {
      LoseFlow(flow_points_[*current]);
      ++lost;
      ++current;
    }
    bool current_used = false;
    const auto close_current = [&] {
      if (current == end || current_used) return;
      LoseFlow(flow_points_[*current]);
      ++lost;
    };
    for (auto i = begin; i != end; ++i) {
      const FlowPoint& point = flow_points_[*i];
      if (point.start) {
        if (i > current) {
          close_current();
          current = i;
          current_used = false;
        }
        continue;
      }
      if (current == end) {
        LoseFlow(point);
        ++lost;
        continue;
      }
      const FlowPoint& from = flow_points_[*current];
      builder_->AddFlow({.id = from.id,
                         .category = from.category,
                         .name = from.name,
                         .start_time = from.time,
                         .start_track = from.track,
                         .start_span = from.span,
                         .end_time = point.time,
                         .end_track = point.track,
                         .end_span = point.span});
      current_used = true;
    }
    close_current();
  });
  return lost;
}

uint64_t ChromePairs::Finish() {
  return JoinHalves() + JoinAsyncHalves() + JoinFlows();
}

uint64_t ChromePairs::memory_bytes() const {
  return halves_.capacity() * sizeof(Half) + async_halves_.capacity() * sizeof(AsyncHalf) + flow_points_.memory_bytes();
}

}  // namespace opscope
