// Assigns all numbers of a Perfetto trace before its packets are written: uuids of tracks, numbers of interned texts,
// flow ids per span. Numbers are given in order of first use, so the file depends on the contents of the Trace, not on
// its importer's numbering.
// A flow is kept only if both ends have a span and the start precedes the arrival, because Perfetto draws every arrow
// forward in time; the others are counted. Async spans of one name that overlap are split over several tracks
// (PartitionIntervals).
// SPDX-License-Identifier: Apache-2.0
#include "export/perfetto_plan.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/json_members.h"

namespace opscope {
namespace {

constexpr uint64_t kMaxSignedTime = INT64_MAX;  // Perfetto's readers store times as signed numbers

uint64_t OverloadKey(const SpanColumns& spans, uint32_t span) {
  return uint64_t{Row(spans.overload[span])} << 32 | Row(spans.name[span]);
}

}  // namespace

PerfettoPlan::PerfettoPlan(const Trace& trace)
    : trace_(trace),
      times_(ChooseTimeBase(trace, kMaxSignedTime)),
      lanes_(trace, times_),
      instants_(trace),
      names_(trace.string_count()),
      categories_(trace.string_count()),
      arguments_(trace.argument_list_count()),
      stacks_(trace.stacks().size()) {
  seen_extra_.assign(trace.string_count(), false);
  FindTexts();
  PartAsyncSpans();
  FindCounters();
  first_track_ = 1 + trace.processes().size();
  first_lane_ = first_track_ + trace.tracks().size();
  first_async_ = first_lane_ + lanes_.lanes().size();
  first_counter_ = first_async_ + async_lanes_.size();
  JoinFlows();
}

void PerfettoPlan::FindTexts() {
  const SpanColumns& spans = trace_.spans();
  std::vector<uint32_t> with_overload;
  for (const uint32_t row : lanes_.rows()) {
    if (trace_.text(spans.overload[row]).empty()) {
      names_.Use(NameRow(spans.name[row]));
    } else {
      with_overload.push_back(row);
    }
    categories_.Use(Row(spans.category[row]));
    arguments_.Use(Row(spans.args[row]));
    stacks_.Use(Row(spans.stack[row]));
    FindMembers(spans.extra[row]);
  }
  const auto use = [&](const auto& rows) {
    for (size_t i = 0; i < rows.size(); ++i) {
      names_.Use(NameRow(rows.name[i]));
      categories_.Use(Row(rows.category[i]));
      FindMembers(rows.extra[i]);
    }
  };
  use(trace_.async_spans());
  use(trace_.instants());
  for (const StackId stack : trace_.allocations().stack)
    stacks_.Use(Row(stack));
  for (const uint32_t row : with_overload) {
    const uint64_t next = names_.ids().size() + overloads_.size() + 1;
    if (overload_numbers_.try_emplace(OverloadKey(spans, row), next).second) overloads_.push_back(row);
  }
}

void PerfettoPlan::FindMembers(StringId extra) {
  if (extra == StringId::kNone || seen_extra_[Row(extra)]) return;
  seen_extra_[Row(extra)] = true;
  ForEachJsonMember(trace_.text(extra), [&](std::string_view key, std::string_view) {
    const uint64_t next = Annotation(KnownAnnotation::kCount) + members_.size();
    if (member_numbers_.try_emplace(key, next).second) members_.push_back(key);
    return true;
  });
}

uint64_t PerfettoPlan::NameOf(uint32_t span) const {
  const SpanColumns& spans = trace_.spans();
  if (overloads_.empty() || trace_.text(spans.overload[span]).empty()) return Name(spans.name[span]);
  return overload_numbers_.find(OverloadKey(spans, span)).value();
}

void PerfettoPlan::PartAsyncSpans() {
  const AsyncSpanColumns& spans = trace_.async_spans();
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < spans.size(); ++i) {
    if (times_.Holds(spans.start[i]) && times_.Holds(EndOf(spans, i))) order.push_back(i);
  }
  const auto group = [&](uint32_t i) { return std::pair(spans.track[i], spans.name[i]); };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(group(a), spans.start[a], a) < std::tuple(group(b), spans.start[b], b);
  });
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    std::vector<Interval> intervals;
    for (end = begin; end < order.size() && group(order[end]) == group(order[begin]); ++end)
      intervals.push_back({spans.start[order[end]], EndOf(spans, order[end])});
    for (std::vector<uint32_t>& rows : PartitionIntervals(intervals)) {
      for (uint32_t& row : rows)
        row = order[begin + row];
      async_lanes_.push_back({spans.track[order[begin]], spans.name[order[begin]], std::move(rows)});
    }
  }
}

void PerfettoPlan::FindCounters() {
  const CounterColumns& counters = trace_.counters();
  std::vector<uint32_t> order(counters.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](uint32_t i) { return std::tuple(counters.track[i], counters.name[i], counters.series[i]); };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  counter_of_row_.resize(counters.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || key(order[i]) != key(order[i - 1])) {
      counter_tracks_.push_back({counters.track[order[i]], counters.name[order[i]], counters.series[order[i]]});
    }
    counter_of_row_[order[i]] = static_cast<uint32_t>(counter_tracks_.size() - 1);
  }
}

// Readers draw an arrow from the span that begins first, or on a tie from the one that precedes in the file. An arrow
// back in time would be reversed, so it is left out and counted.
void PerfettoPlan::JoinFlows() {
  const FlowColumns& flows = trace_.flows();
  if (flows.size() == 0) return;
  const SpanColumns& spans = trace_.spans();
  std::vector<uint32_t> place(spans.size(), UINT32_MAX);
  for (size_t i = 0; i < lanes_.rows().size(); ++i)
    place[lanes_.rows()[i]] = static_cast<uint32_t>(i);
  struct End {
    uint32_t span;
    PerfettoFlowEnd end;
  };
  std::vector<End> ends;
  for (size_t i = 0; i < flows.size(); ++i) {
    const SpanId from = flows.start_span[i], to = flows.end_span[i];
    if (from == SpanId::kNone || to == SpanId::kNone || place[Row(from)] == UINT32_MAX ||
        place[Row(to)] == UINT32_MAX) {
      ++flows_without_span_;
      continue;
    }
    const auto when = [&](SpanId span) { return std::pair(spans.start[Row(span)], place[Row(span)]); };
    if (when(from) >= when(to)) {
      ++flows_back_;
      continue;
    }
    ends.push_back({Row(from), {i + 1, false}});
    ends.push_back({Row(to), {i + 1, true}});
  }
  std::stable_sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.span < b.span; });
  first_flow_end_.assign(spans.size() + 1, 0);
  for (const End& end : ends) {
    ++first_flow_end_[end.span + 1];
    flow_ends_.push_back(end.end);
  }
  std::partial_sum(first_flow_end_.begin(), first_flow_end_.end(), first_flow_end_.begin());
}

}  // namespace opscope
