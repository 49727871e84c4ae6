// Attributes memory to torch's events, as torch does: an event has the sum of the allocations from its begin to its
// end, both inclusive, of whatever thread. Prefix sums over the allocations by time give each sum in constant time.
// Allocations outside of all events, and requests that ran out of memory, become events of their own.
//
//   allocations          +512 at 3, -256 at 8, +64 at 20
//   event from 2 to 10   256 bytes; no event is open at 20, so that allocation becomes "[memory]"
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "analysis/torch/function_event_list.h"
#include "analysis/torch/function_event_rules.h"
#include "base/saturating.h"
#include "opscope/torch/out_of_memory.h"

namespace opscope {
namespace {

struct MemoryIndex {
  std::vector<uint32_t> row;      // rows of allocations, by time
  std::vector<int64_t> time;      // time of these rows
  std::vector<int64_t> host_sum;  // prefix sums of bytes, which wrap around; one entry more than rows
  std::vector<int64_t> device_sum;
  std::vector<int32_t> claim_change;  // +1 where an op's range begins, -1 after its end
};

MemoryIndex IndexAllocations(const AllocationColumns& allocations) {
  MemoryIndex index;
  const size_t n = allocations.size();
  index.row.resize(n);
  std::iota(index.row.begin(), index.row.end(), 0u);
  auto by_time = [&](uint32_t a, uint32_t b) { return allocations.time[a] < allocations.time[b]; };
  if (!std::is_sorted(index.row.begin(), index.row.end(), by_time))
    std::stable_sort(index.row.begin(), index.row.end(), by_time);
  index.time.resize(n);
  index.host_sum.assign(n + 1, 0);
  index.device_sum.assign(n + 1, 0);
  index.claim_change.assign(n + 1, 0);
  for (size_t k = 0; k < n; ++k) {
    const uint32_t row = index.row[k];
    index.time[k] = allocations.time[row].ns;
    const int32_t type = allocations.device_type[row];
    index.host_sum[k + 1] = WrappingAdd(index.host_sum[k], IsHostMemory(type) ? allocations.bytes[row] : 0);
    index.device_sum[k + 1] = WrappingAdd(index.device_sum[k], IsDeviceMemory(type) ? allocations.bytes[row] : 0);
  }
  return index;
}

// Bytes of the rows [first, last). The difference of prefix sums that wrapped around is right if it fits itself.
int64_t SumOfRows(const std::vector<int64_t>& prefix_sums, size_t first, size_t last) {
  return static_cast<int64_t>(static_cast<uint64_t>(prefix_sums[last]) - static_cast<uint64_t>(prefix_sums[first]));
}

// First index from `from` on with a time after `end`. Usually near, so exponential search.
size_t FirstAfter(const std::vector<int64_t>& time, size_t from, int64_t end) {
  size_t step = 1, low = from, high = from;
  while (high < time.size() && time[high] <= end) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  const auto begin = time.begin();
  const auto limit = begin + static_cast<std::ptrdiff_t>(std::min(high, time.size()));
  return static_cast<size_t>(std::upper_bound(begin + static_cast<std::ptrdiff_t>(low), limit, end) - begin);
}

// Appends an event without length and span. row: value for FunctionEvents::allocation.
void AppendMoment(const Trace& trace, Timestamp at, TrackId on, StringId name, uint8_t flags, uint32_t row,
                  EventListWork* work) {
  FunctionEvents& events = work->events;
  const TrackColumns& tracks = trace.tracks();
  const uint32_t track = Row(on);
  const double time = ToTorchUs(SaturatingSubtract(at.ns, events.trace_start.ns));
  const bool has_track = track < tracks.size();
  events.span.push_back(SpanId::kNone);
  events.name.push_back(name);
  events.start_us.push_back(time);
  events.end_us.push_back(time);
  events.thread.push_back(has_track ? TorchThread(tracks, track) : 0);
  events.flags.push_back(flags);
  events.allocation.push_back(row);
  events.cpu_memory_usage.push_back(0);
  events.device_memory_usage.push_back(0);
  work->lane.push_back(has_track ? track : work->lane_count - 1);
  if (!work->kernel_of.empty()) work->kernel_of.push_back({});
}

// Appends an event for each of these rows of `allocations`.
void AppendAllocations(const Trace& trace, const std::vector<uint32_t>& rows, EventListWork* work) {
  if (rows.empty()) return;
  FunctionEvents& events = work->events;
  const AllocationColumns& allocations = trace.allocations();
  const StringId name{events.first_rewritten_name + static_cast<uint32_t>(events.rewritten_names.size())};
  events.rewritten_names.emplace_back("[memory]");
  for (const uint32_t row : rows) {
    AppendMoment(trace, allocations.time[row], allocations.track[row], name, function_event_flags::kMemory, row, work);
    const int32_t type = allocations.device_type[row];
    if (IsHostMemory(type)) events.cpu_memory_usage.back() = allocations.bytes[row];
    if (IsDeviceMemory(type)) events.device_memory_usage.back() = allocations.bytes[row];
  }
}

// Appends out-of-memory requests. torch lists them all, without bytes.
void AppendOutOfMemory(const Trace& trace, const std::vector<OutOfMemory>& requests, EventListWork* work) {
  const InstantColumns& instants = trace.instants();
  for (const OutOfMemory& request : requests) {
    const uint32_t row = request.instant;
    AppendMoment(trace, instants.time[row], instants.track[row], instants.name[row],
                 function_event_flags::kMemory | function_event_flags::kOutOfMemory, row, work);
  }
}

// The end that torch compares with times of memory. An unfinished range has another one in the list than in the Trace.
int64_t ListedEnd(const Trace& trace, const FunctionEvents& events, size_t i) {
  const SpanColumns& spans = trace.spans();
  const uint32_t span = Row(events.span[i]);
  if ((spans.flags[span] & span_flags::kUnfinished) == 0) return (spans.start[span] + spans.duration[span]).ns;
  return SaturatingAdd(events.trace_start.ns, ClampToInt64(std::round(events.end_us[i] * kNsPerUs)));
}

void MakeMemoryColumns(size_t rows, FunctionEvents* events) {
  events->allocation.assign(rows, 0xffffffff);
  events->cpu_memory_usage.assign(rows, 0);
  events->device_memory_usage.assign(rows, 0);
}

// Merges the rows from `added` on into the sorted rows before them.
void SortAgain(size_t added, EventListWork* work) {
  const FunctionEvents& events = work->events;
  std::vector<uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto before = [&](uint32_t a, uint32_t b) {
    return events.start_us[a] != events.start_us[b] ? events.start_us[a] < events.start_us[b]
                                                    : events.end_us[a] > events.end_us[b];
  };
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(added);
  if (!std::is_sorted(middle, order.end(), before)) std::stable_sort(middle, order.end(), before);
  std::inplace_merge(order.begin(), middle, order.end(), before);
  ChooseEvents(order, work);
}

}  // namespace

void AttributeMemory(const Trace& trace, EventListWork* work) {
  FunctionEvents& events = work->events;
  const AllocationColumns& allocations = trace.allocations();
  const std::vector<OutOfMemory> requests = FindOutOfMemory(trace);
  if (allocations.size() == 0 && requests.empty()) return;
  MemoryIndex index = IndexAllocations(allocations);
  const size_t n = events.size();
  MakeMemoryColumns(n, &events);
  const SpanColumns& spans = trace.spans();
  size_t first = 0;
  for (size_t i = 0; i < n; ++i) {
    if (IsDeviceEvent(events, i)) continue;
    const int64_t start = spans.start[Row(events.span[i])].ns, end = ListedEnd(trace, events, i);
    // As in torch, both ends are inclusive and the thread is ignored. Events are sorted by start.
    while (first < index.time.size() && index.time[first] < start)
      ++first;
    const size_t last = FirstAfter(index.time, first, end);
    if (first >= last) continue;
    events.cpu_memory_usage[i] = SumOfRows(index.host_sum, first, last);
    events.device_memory_usage[i] = SumOfRows(index.device_sum, first, last);
    ++index.claim_change[first];
    --index.claim_change[last];
  }
  int32_t claims = 0;
  std::vector<uint32_t> unclaimed;
  for (size_t k = 0; k < index.row.size(); ++k) {
    claims += index.claim_change[k];
    if (claims == 0) unclaimed.push_back(index.row[k]);
  }
  if (unclaimed.empty() && requests.empty()) return;
  std::sort(unclaimed.begin(), unclaimed.end());
  AppendAllocations(trace, unclaimed, work);
  AppendOutOfMemory(trace, requests, work);
  SortAgain(n, work);
}

void ListAllocations(const Trace& trace, EventListWork* work) {
  const size_t n = work->events.size(), allocations = trace.allocations().size();
  const std::vector<OutOfMemory> requests = FindOutOfMemory(trace);
  if (allocations == 0 && requests.empty()) return;
  MakeMemoryColumns(n, &work->events);
  std::vector<uint32_t> rows(allocations);
  std::iota(rows.begin(), rows.end(), 0u);
  AppendAllocations(trace, rows, work);
  AppendOutOfMemory(trace, requests, work);
  SortAgain(n, work);
}

}  // namespace opscope
