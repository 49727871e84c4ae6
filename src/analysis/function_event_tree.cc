// The call tree that torch rebuilds from times: an event is the child of the innermost earlier event of
// its thread whose half-open interval holds it. Events that overlap in part have no relation, and the
// earlier one leaves the stack for good. Then chains of equal names with a single child become one event.
//
// Times are compared as the doubles that torch compares. The list is in order, so one pass with one stack
// per thread gives what torch gets by sorting each thread.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "analysis/function_event_list.h"

namespace opscope {
namespace {

constexpr uint32_t kNoRow = 0xffffffff;

bool NestsOnThread(uint8_t flags) {
  return (flags & (function_event_flags::kAsync | function_event_flags::kDevice)) == 0;
}

bool IsOnlyChildOfItsName(const FunctionEvents& events, size_t i) {
  const EventIndex parent = events.parent[i];
  if (parent == EventIndex::kNone || events.name[Row(parent)] != events.name[i]) return false;
  const EventIndex first = events.first_child[Row(parent)];
  return first != EventIndex::kNone && events.next_sibling[Row(first)] == EventIndex::kNone;
}

// The parent takes the place of its only child: its children and its kernels.
void AdoptGrandchildren(EventListWork* work, size_t i) {
  FunctionEvents& events = work->events;
  const EventIndex parent = events.parent[i];
  events.first_child[Row(parent)] = events.first_child[i];
  for (EventIndex c = events.first_child[i]; c != EventIndex::kNone; c = events.next_sibling[Row(c)]) {
    events.parent[Row(c)] = parent;
  }
  if (!work->kernel_of.empty()) work->kernel_of[Row(parent)] = work->kernel_of[i];
}

template <typename T>
void KeepRows(const std::vector<uint32_t>& new_row, std::vector<T>* column) {
  if (column->empty()) return;
  size_t kept = 0;
  for (size_t i = 0; i < new_row.size(); ++i) {
    if (new_row[i] != kNoRow) (*column)[kept++] = (*column)[i];
  }
  column->resize(kept);
}

void Renumber(const std::vector<uint32_t>& new_row, std::vector<EventIndex>* column) {
  for (EventIndex& row : *column) {
    if (row != EventIndex::kNone) row = EventIndex{new_row[Row(row)]};
  }
}

void RemoveEvents(const std::vector<uint32_t>& new_row, EventListWork* work) {
  FunctionEvents& events = work->events;
  KeepRows(new_row, &events.span);
  KeepRows(new_row, &events.name);
  KeepRows(new_row, &events.start_us);
  KeepRows(new_row, &events.end_us);
  KeepRows(new_row, &events.parent);
  KeepRows(new_row, &events.first_child);
  KeepRows(new_row, &events.next_sibling);
  KeepRows(new_row, &events.thread);
  KeepRows(new_row, &events.flags);
  KeepRows(new_row, &events.allocation);
  KeepRows(new_row, &events.cpu_memory_usage);
  KeepRows(new_row, &events.device_memory_usage);
  KeepRows(new_row, &work->kernel_of);
  Renumber(new_row, &events.parent);
  Renumber(new_row, &events.first_child);
  Renumber(new_row, &events.next_sibling);
  Renumber(new_row, &work->kernels);
}

}  // namespace

void BuildCallTree(EventListWork* work) {
  FunctionEvents& events = work->events;
  const size_t n = events.size();
  events.parent.assign(n, EventIndex::kNone);
  events.first_child.assign(n, EventIndex::kNone);
  events.next_sibling.assign(n, EventIndex::kNone);
  std::vector<uint32_t> last_child(n, kNoRow);
  std::vector<std::vector<uint32_t>> open(work->lane_count);
  for (size_t i = 0; i < n; ++i) {
    if (!NestsOnThread(events.flags[i])) continue;
    std::vector<uint32_t>& stack = open[work->lane[i]];
    while (!stack.empty() &&
           (events.start_us[i] >= events.end_us[stack.back()] || events.end_us[i] > events.end_us[stack.back()])) {
      stack.pop_back();
    }
    const auto row = static_cast<uint32_t>(i);
    if (!stack.empty()) {
      const uint32_t parent = stack.back();
      events.parent[i] = EventIndex{parent};
      if (last_child[parent] == kNoRow) {
        events.first_child[parent] = EventIndex{row};
      } else {
        events.next_sibling[last_child[parent]] = EventIndex{row};
      }
      last_child[parent] = row;
    }
    stack.push_back(row);
  }
}

void FoldRepeatedCalls(EventListWork* work) {
  FunctionEvents& events = work->events;
  const size_t n = events.size();
  std::vector<uint8_t> is_folded;
  size_t folded = 0;
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < n; ++i) {
      if (!IsOnlyChildOfItsName(events, i) || (!is_folded.empty() && is_folded[i])) continue;
      if (is_folded.empty()) is_folded.resize(n);
      AdoptGrandchildren(work, i);
      is_folded[i] = 1;
      ++folded;
      again = true;
    }
  }
  if (folded == 0) return;
  std::vector<uint32_t> new_row(n, kNoRow);
  uint32_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!is_folded[i]) new_row[i] = kept++;
  }
  RemoveEvents(new_row, work);
}

}  // namespace opscope
