// Selects the events that torch lists and orders them by (start, -end), ties in the order of recording.
//
// Tracks of a Trace are already sorted that way, with rare exceptions (ties of zero length), so the list consists of a
// few sorted runs, which are merged. With one thread, the usual case, the list is one copy. Sorting everything by
// comparison takes three times as long.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/function_event_list.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "analysis/torch/borrowed_ends.h"
#include "analysis/torch/function_event_rules.h"
#include "base/natural_sort.h"
#include "base/saturating.h"

namespace opscope {
namespace {

struct ListKey {
  int64_t start;
  int64_t end;
  uint32_t span;
  uint32_t name;  // rewritten name
};

bool ComesBefore(const ListKey& a, const ListKey& b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

bool IsDeviceTrack(TrackKind kind) {
  return kind == TrackKind::kDeviceStream || kind == TrackKind::kDeviceAnnotation;
}

// python_functions: see FunctionEventOptions.
std::vector<CategoryRole> RolesOfCategories(const Trace& trace, bool python_functions) {
  std::vector<CategoryRole> roles(trace.string_count());
  // With with_modules alone, recorded module calls are not listed: torch has no events for them.
  const bool are_calls_listed =
      python_functions && (IsSetInMetadata(trace, "with_stack") || !IsSetInMetadata(trace, "with_modules"));
  StringId last = StringId::kNone;
  for (StringId category : trace.spans().category) {
    if (category == last) continue;
    last = category;
    CategoryRole& role = roles[Row(category)];
    role = RoleOfCategory(trace.text(category));
    role.is_listed &= !role.is_python || are_calls_listed;
  }
  return roles;
}

EventTimes TimesOfSpan(const SpanColumns& spans, uint32_t row, bool is_device_range) {
  constexpr Duration kLonger{1};  // trimmed on each side
  const Duration longer = is_device_range && spans.duration[row].ns >= 2 * kLonger.ns ? kLonger : Duration{};
  const Timestamp end = spans.start[row] + spans.duration[row];
  return {spans.start[row] + longer, end + Duration{-longer.ns}};
}

constexpr uint32_t kLeftOut = 0xffffffff;  // ListKey::span

// Gives the unfinished spans of a track an end. keys: the track's, in row order. Python calls still open end with the
// recording, and so do spans that began in them. only_finished: spans still without an end are left out.
void EndUnfinished(const Trace& trace, const std::vector<CategoryRole>& roles, uint32_t track, bool only_finished,
                   std::span<ListKey> keys) {
  size_t at = 0;
  int64_t first_call = INT64_MAX;
  for (const InheritedEnd& borrowed : InheritedEnds(trace, track)) {
    const int64_t start = trace.spans().start[borrowed.span].ns;
    if (roles[Row(trace.spans().category[borrowed.span])].is_python) {
      first_call = std::min(first_call, start);
      continue;
    }
    while (at < keys.size() && keys[at].span < borrowed.span)
      ++at;
    if (at == keys.size() || keys[at].span != borrowed.span) continue;
    keys[at].end = borrowed.end;
    if (only_finished && !borrowed.is_of_another && start < first_call) keys[at++].span = kLeftOut;
  }
}

// The order in which tracks are visited: Kineto lists device ranges last.
std::vector<uint32_t> OrderOfTracks(const TrackColumns& tracks) {
  std::vector<uint32_t> order(tracks.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_partition(order.begin(), order.end(),
                        [&](uint32_t track) { return tracks.kind[track] != TrackKind::kDeviceAnnotation; });
  return order;
}

// names: null keeps every name and thereby every event. only_finished: see FunctionEventOptions.
std::vector<ListKey> SortedKeys(const Trace& trace, const std::vector<CategoryRole>& roles, NameRewriter* names,
                                bool only_finished) {
  const SpanColumns& spans = trace.spans();
  const TrackColumns& tracks = trace.tracks();
  std::vector<ListKey> keys;
  keys.reserve(spans.size());
  for (const uint32_t track : OrderOfTracks(tracks)) {
    const uint32_t first = tracks.first_span[track];
    const auto first_key = static_cast<ptrdiff_t>(keys.size());
    uint8_t flags = 0;
    for (uint32_t row = first; row < first + tracks.span_count[track]; ++row) {
      flags |= spans.flags[row];
      if (!roles[Row(spans.category[row])].is_listed) continue;
      const StringId name = names == nullptr ? spans.name[row] : names->Rewrite(spans.name[row]);
      if (name == StringId::kNone) continue;
      const EventTimes times = TimesOfSpan(spans, row, roles[Row(spans.category[row])].is_device_range);
      keys.push_back({times.start.ns, times.end.ns, row, Row(name)});
    }
    if ((flags & span_flags::kUnfinished) == 0) continue;
    const auto of_track = keys.begin() + first_key;
    EndUnfinished(trace, roles, track, only_finished, std::span(of_track, keys.end()));
    keys.erase(std::remove_if(of_track, keys.end(), [](const ListKey& key) { return key.span == kLeftOut; }),
               keys.end());
  }
  NaturalSort(&keys, ComesBefore);
  return keys;
}

// new value of each row = old value of rows[row]. Columns that are not made yet are empty.
template <typename T>
void ChooseRows(const std::vector<uint32_t>& rows, std::vector<T>* column) {
  if (column->empty()) return;
  std::vector<T> chosen(rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    chosen[i] = (*column)[rows[i]];
  column->swap(chosen);
}

uint8_t FlagsOf(const CategoryRole& role, uint8_t span_flags, TrackKind kind) {
  uint8_t flags = 0;
  // A span that merely crosses others is part of torch's tree, which goes by times. An unfinished one counts as async.
  const uint8_t outside = span_flags & (span_flags::kAsync | span_flags::kCrossing);
  const bool ends_elsewhere = (span_flags & (span_flags::kOtherThread | span_flags::kUnfinished)) != 0;
  if (outside == span_flags::kAsync || (ends_elsewhere && !role.is_python)) flags |= function_event_flags::kAsync;
  if ((IsDeviceTrack(kind) && !role.is_event_record) || role.is_wait) flags |= function_event_flags::kDevice;
  if (role.is_user_annotation) flags |= function_event_flags::kUserAnnotation;
  if (role.is_python) flags |= function_event_flags::kPythonFunction;
  return flags;
}

}  // namespace

// Time zero of torch's events: the start of Kineto's own span, or the option that a recording passes.
Timestamp TraceStart(const Trace& trace, const FunctionEventOptions& options) {
  if (options.trace_start) return *options.trace_start;
  const SpanColumns& spans = trace.spans();
  if (auto category = trace.FindString("Trace")) {
    for (size_t row = 0; row < spans.size(); ++row) {
      if (spans.category[row] == *category && trace.text(spans.name[row]).starts_with("PyTorch Profiler ("))
        return spans.start[row];
    }
  }
  if (spans.size() == 0) return {};
  return *std::min_element(spans.start.begin(), spans.start.end());
}

EventTimes TimesOf(const Trace& trace, SpanId span) {
  const SpanColumns& spans = trace.spans();
  return TimesOfSpan(spans, Row(span), trace.text(spans.category[Row(span)]) == kDeviceRange);
}

void ListEvents(const Trace& trace, EventListWork* work) {
  const SpanColumns& spans = trace.spans();
  const TrackColumns& tracks = trace.tracks();
  FunctionEvents& events = work->events;
  const std::vector<CategoryRole> roles = RolesOfCategories(trace, events.python_functions);
  NameRewriter names(trace);
  const std::vector<ListKey> keys =
      SortedKeys(trace, roles, events.as_collected ? nullptr : &names, events.only_finished);
  const size_t n = keys.size();
  events.rewritten_names = names.TakeRewritten();
  events.first_rewritten_name = static_cast<uint32_t>(trace.string_count());
  events.span.resize(n);
  events.name.resize(n);
  events.start_us.resize(n);
  events.end_us.resize(n);
  events.thread.resize(n);
  events.flags.resize(n);
  work->lane.resize(n);
  const auto no_thread = static_cast<uint32_t>(tracks.size());  // the extra lane of events without a thread
  work->lane_count = no_thread + 1;
  for (size_t i = 0; i < n; ++i) {
    const ListKey& key = keys[i];
    const uint32_t track = Row(spans.track[key.span]);
    const CategoryRole& role = roles[Row(spans.category[key.span])];
    events.span[i] = SpanId{key.span};
    events.name[i] = StringId{key.name};
    events.start_us[i] = ToTorchUs(SaturatingSubtract(key.start, events.trace_start.ns));
    events.end_us[i] = ToTorchUs(SaturatingSubtract(key.end, events.trace_start.ns));
    events.flags[i] = FlagsOf(role, spans.flags[key.span], tracks.kind[track]);
    events.thread[i] = TorchThread(tracks, track);
    work->lane[i] = role.is_threadless ? no_thread : track;
  }
}

void ChooseEvents(const std::vector<uint32_t>& rows, EventListWork* work) {
  FunctionEvents& events = work->events;
  std::vector<EventIndex> new_row(events.size(), EventIndex::kNone);
  for (uint32_t i = 0; i < rows.size(); ++i)
    new_row[rows[i]] = EventIndex{i};
  ChooseRows(rows, &events.span);
  ChooseRows(rows, &events.name);
  ChooseRows(rows, &events.start_us);
  ChooseRows(rows, &events.end_us);
  ChooseRows(rows, &events.parent);
  ChooseRows(rows, &events.first_child);
  ChooseRows(rows, &events.next_sibling);
  ChooseRows(rows, &events.thread);
  ChooseRows(rows, &events.flags);
  ChooseRows(rows, &events.allocation);
  ChooseRows(rows, &events.cpu_memory_usage);
  ChooseRows(rows, &events.device_memory_usage);
  ChooseRows(rows, &work->lane);
  ChooseRows(rows, &work->kernel_of);
  for (auto* links : {&events.parent, &events.first_child, &events.next_sibling, &work->kernels})
    for (EventIndex& row : *links)
      if (row != EventIndex::kNone) row = new_row[Row(row)];
}

}  // namespace opscope
