// Decides the order of all events before any text is made, because blocks are then formatted in parallel and in any
// order.
// Tracks are sorted by their ids and spans by time, never by row numbers: an importer numbers rows in file order, so
// ordering by row would give other bytes after each round trip of export and import. Spans of a recording are nearly
// sorted already, which the is_sorted test finds in linear time; only tracks that share a viewer's row are sorted.
// Flows are attached to the position of their span, since readers want the ends of a flow right after the span that it
// binds to.
// SPDX-License-Identifier: Apache-2.0
#include "export/chrome_plan.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "export/span_lanes.h"

namespace opscope {
namespace {

constexpr int64_t kSpansSortIndex = 536870912;  // Kineto's sort index of the process "Spans"

// -1, 0, 1; numbers before texts.
int CompareIdentity(const Trace& trace, int64_t number_a, StringId text_a, int64_t number_b, StringId text_b) {
  const bool is_text_a = text_a != StringId::kNone;
  const bool is_text_b = text_b != StringId::kNone;
  if (is_text_a != is_text_b) return is_text_a ? 1 : -1;
  if (is_text_a) return text_a == text_b ? 0 : trace.text(text_a).compare(trace.text(text_b));
  return number_a < number_b ? -1 : (number_a > number_b ? 1 : 0);
}

int CompareTracks(const Trace& trace, TrackId a, TrackId b) {
  const TrackColumns& tracks = trace.tracks();
  const ProcessColumns& processes = trace.processes();
  const uint32_t process_a = Row(tracks.process[Row(a)]);
  const uint32_t process_b = Row(tracks.process[Row(b)]);
  const int by_process = CompareIdentity(trace, processes.pid[process_a], processes.pid_text[process_a],
                                         processes.pid[process_b], processes.pid_text[process_b]);
  if (by_process != 0) return by_process;
  return CompareIdentity(trace, tracks.tid[Row(a)], tracks.tid_text[Row(a)], tracks.tid[Row(b)],
                         tracks.tid_text[Row(b)]);
}

template <typename Rows>
void Widen(const Rows& times, Timestamp* first, Timestamp* last, bool* any) {
  if (times.empty()) return;
  Timestamp least = *any ? *first : times[0];
  Timestamp largest = *any ? *last : times[0];
  for (const Timestamp time : times) {
    least = std::min(least, time);
    largest = std::max(largest, time);
  }
  *first = least, *last = largest;
  *any = true;
}

bool IsWindowInstant(const Trace& trace, uint32_t instant) {
  const InstantColumns& instants = trace.instants();
  const std::string_view name = trace.text(instants.name[instant]);
  return instants.scope[instant] == 'g' && (name == "Record Window End" || name.starts_with("Iteration Start: "));
}

bool IsRecordingOfTorch(const Trace& trace) {
  const MetadataColumns& metadata = trace.metadata();
  return trace.info().options_json.find("\"abi\":") != std::string::npos &&
         std::any_of(metadata.key.begin(), metadata.key.end(),
                     [&](StringId key) { return trace.text(key) == "trace_id"; });
}

}  // namespace

bool ChromePlan::IsSpansProcess(const Trace& trace, ProcessId process) {
  return trace.text(trace.processes().pid_text[Row(process)]) == "Spans";
}

bool ChromePlan::SameRow(const Trace& trace, TrackId a, TrackId b) {
  return CompareTracks(trace, a, b) == 0;
}

std::optional<size_t> ChromePlan::out_of_memory(uint32_t instant) const {
  const auto found = std::ranges::lower_bound(out_of_memory_, instant, {}, &OutOfMemory::instant);
  if (found == out_of_memory_.end() || found->instant != instant) return std::nullopt;
  return static_cast<size_t>(found - out_of_memory_.begin());
}

ChromePlan::ChromePlan(const Trace& trace, size_t rows_per_block) : lanes_(trace), memory_instants_(trace) {
  FindRecorded(trace);
  FindTimes(trace);
  OrderTracks(trace);
  OrderSpans(trace);
  OrderInstants(trace);
  OrderFlows(trace);
  CutBlocks(trace, rows_per_block);
}

// Recognizes recordings by the scope of their operators and ranges, which files of other tools lack. A recording
// without any (activities=[CUDA]) is recognized by the recorder's options and the trace_id that opscope.torch sets.
void ChromePlan::FindRecorded(const Trace& trace) {
  const auto& scopes = trace.spans().scope;
  recorded_ = std::any_of(scopes.begin(), scopes.end(), [](ScopeType scope) { return scope != ScopeType::kUnknown; }) ||
              (!scopes.empty() && IsRecordingOfTorch(trace));
  writes_window_ = recorded_ && !trace.FindString("PyTorch Profiler (0)");
}

void ChromePlan::FindTimes(const Trace& trace) {
  bool any = false;
  const SpanColumns& spans = trace.spans();
  Widen(spans.start, &first_, &last_, &any);
  Timestamp last = last_;  // a local, so that the compiler keeps it in a register
  for (size_t i = 0; i < spans.size(); ++i)
    last = std::max(last, EndOf(spans, i));
  last_ = last;
  const AsyncSpanColumns& async_spans = trace.async_spans();
  Widen(async_spans.start, &first_, &last_, &any);
  for (size_t i = 0; i < async_spans.size(); ++i)
    last_ = std::max(last_, EndOf(async_spans, i));
  Widen(trace.instants().time, &first_, &last_, &any);
  Widen(trace.counters().time, &first_, &last_, &any);
  Widen(trace.allocations().time, &first_, &last_, &any);
}

void ChromePlan::OrderTracks(const Trace& trace) {
  std::vector<bool> used(trace.tracks().size(), false);
  for (size_t i = 0; i < used.size(); ++i)
    used[i] = trace.tracks().span_count[i] != 0;
  const auto use = [&](std::span<const TrackId> ids) {
    for (const TrackId id : ids) {
      if (Row(id) < used.size()) used[Row(id)] = true;
    }
  };
  use(trace.async_spans().track);
  use(trace.instants().track);
  use(trace.counters().track);
  use(trace.allocations().track);
  use(trace.flows().start_track);
  use(trace.flows().end_track);
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) tracks_.push_back(static_cast<TrackId>(i));
  }
  const auto kind = [&](TrackId id) { return trace.tracks().kind[Row(id)]; };
  const auto is_last = [&](TrackId id) { return IsSpansProcess(trace, trace.tracks().process[Row(id)]); };
  std::stable_sort(tracks_.begin(), tracks_.end(), [&](TrackId a, TrackId b) {
    if (is_last(a) != is_last(b)) return is_last(b);
    const int order = CompareTracks(trace, a, b);
    return order != 0 ? order < 0 : kind(a) < kind(b);
  });
}

void ChromePlan::OrderSpans(const Trace& trace) {
  const TrackColumns& tracks = trace.tracks();
  const SpanColumns& spans = trace.spans();
  spans_.reserve(spans.size());
  if (writes_window_) spans_order_ = kSpansSortIndex;
  const auto before = [&](uint32_t a, uint32_t b) {
    return spans.start[a] != spans.start[b] ? spans.start[a] < spans.start[b] : spans.duration[a] > spans.duration[b];
  };
  for (size_t i = 0; i < tracks_.size();) {
    const size_t begin = spans_.size();
    const TrackId first = tracks_[i];
    const ProcessId process = tracks.process[Row(first)];
    const bool is_last = IsSpansProcess(trace, process);
    for (; i < tracks_.size() && CompareTracks(trace, first, tracks_[i]) == 0; ++i) {
      const size_t rows = tracks.span_count[Row(tracks_[i])];
      spans_.resize(spans_.size() + rows);
      std::iota(spans_.end() - static_cast<ptrdiff_t>(rows), spans_.end(), tracks.first_span[Row(tracks_[i])]);
    }
    const auto of_row = spans_.begin() + static_cast<ptrdiff_t>(begin);
    if (!std::is_sorted(of_row, spans_.end(), before)) std::stable_sort(of_row, spans_.end(), before);
    if (tracks.kind[Row(first)] == TrackKind::kThread) lanes_.AddThread(first, std::span(spans_).subspan(begin));
    if (!is_last) last_spans_ = spans_.size();
    const int64_t order = trace.processes().sort_index[Row(process)];
    if (is_last && order != INT64_MIN) spans_order_ = order;
  }
}

void ChromePlan::OrderInstants(const Trace& trace) {
  instants_ = memory_instants_.others();
  if (recorded_) out_of_memory_ = FindOutOfMemory(trace);
  const auto last = std::stable_partition(instants_.begin(), instants_.end(),
                                          [&](uint32_t row) { return !IsWindowInstant(trace, row); });
  last_instants_ = static_cast<size_t>(last - instants_.begin());
  std::stable_sort(last, instants_.end(),
                   [&](uint32_t a, uint32_t b) { return trace.instants().time[a] < trace.instants().time[b]; });
}

void ChromePlan::OrderFlows(const Trace& trace) {
  const FlowColumns& flows = trace.flows();
  std::vector<uint32_t> order(flows.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](uint32_t i) {
    return std::tuple(trace.text(flows.category[i]), flows.id[i], flows.start_time[i]);
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple_cat(key(a), std::tuple(flows.end_time[a])) <
           std::tuple_cat(key(b), std::tuple(flows.end_time[b]));
  });
  // The position of each span in the file; the ends of its flows follow it.
  std::vector<uint32_t> place(flows.size() == 0 ? 0 : spans_.size());
  for (size_t i = 0; i < place.size(); ++i)
    place[spans_[i]] = static_cast<uint32_t>(i);
  const auto place_of = [&](SpanId span) { return span == SpanId::kNone ? UINT32_MAX : place[Row(span)]; };
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t flow = order[i];
    const bool same_start = i != 0 && key(order[i - 1]) == key(flow) &&
                            flows.start_track[order[i - 1]] == flows.start_track[flow] &&
                            flows.id_scope[order[i - 1]] == flows.id_scope[flow];
    if (!same_start) flow_ends_.push_back({place_of(flows.start_span[flow]), flow, false});
    flow_ends_.push_back({place_of(flows.end_span[flow]), flow, true});
  }
  std::stable_sort(flow_ends_.begin(), flow_ends_.end(),
                   [](const ChromeFlowEnd& a, const ChromeFlowEnd& b) { return a.span < b.span; });
  const auto free = std::find_if(flow_ends_.begin(), flow_ends_.end(),
                                 [](const ChromeFlowEnd& end) { return end.span == UINT32_MAX; });
  free_flow_ends_ = static_cast<size_t>(free - flow_ends_.begin());
}

void ChromePlan::CutBlocks(const Trace& trace, size_t rows_per_block) {
  const auto cut = [&](ChromeSection section, size_t begin, size_t end) {
    for (; begin < end; begin += rows_per_block) {
      blocks_.push_back({section, begin, std::min(begin + rows_per_block, end)});
    }
  };
  cut(ChromeSection::kSpans, 0, last_spans_);
  cut(ChromeSection::kAllocations, 0, trace.allocations().size());
  cut(ChromeSection::kInstants, 0, last_instants_);
  // All counters are one block: a cut could separate the series of one sample.
  cut(ChromeSection::kCounters, 0, trace.counters().size() == 0 ? 0 : 1);
  if (!blocks_.empty() && blocks_.back().section == ChromeSection::kCounters) {
    blocks_.back().end = trace.counters().size();
  }
  cut(ChromeSection::kAsyncSpans, 0, trace.async_spans().size());
  cut(ChromeSection::kFlows, free_flow_ends_, flow_ends_.size());
  cut(ChromeSection::kSpans, last_spans_, spans_.size());
  if (writes_window_) cut(ChromeSection::kTraceSpan, 0, 1);
  if (spans_order_) cut(ChromeSection::kSpansOrder, 0, 1);
  cut(ChromeSection::kInstants, last_instants_, instants_.size());
  if (writes_window_) cut(ChromeSection::kWindowInstants, 0, 1);
}

}  // namespace opscope
