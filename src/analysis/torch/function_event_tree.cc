// Builds the call tree that torch derives from times: the parent of an event is the innermost earlier event of its
// thread whose half-open interval contains it. Events that overlap only in part are unrelated, and the earlier one
// leaves the stack for good. Then chains of equal names with a single child are folded into one event.
//
// BuildCollectedTree builds another tree, that of torch's collected events: the parent is the innermost event open on
// the thread when the event begins, wherever the event ends. If nothing is open on the thread, the parent is the
// innermost event open on the forward operator's thread, and stays so for later events of the thread.
//
// Times are compared as the doubles that torch compares. The list is sorted, so one pass with a stack per thread gives
// the result that torch gets by sorting each thread.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/torch/function_event_list.h"

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

// The parent takes over the children and kernels of its only child.
void AdoptGrandchildren(EventListWork* work, size_t i) {
  FunctionEvents& events = work->events;
  const EventIndex parent = events.parent[i];
  events.first_child[Row(parent)] = events.first_child[i];
  for (EventIndex c = events.first_child[i]; c != EventIndex::kNone; c = events.next_sibling[Row(c)])
    events.parent[Row(c)] = parent;
  if (!work->kernel_of.empty()) work->kernel_of[Row(parent)] = work->kernel_of[i];
}

// The open events per thread, while events are visited by start.
class OpenEvents {
 public:
  explicit OpenEvents(const FunctionEvents& events) : events_(events) {}

  // The innermost open event, or the thread's default parent; kNoRow if none.
  uint32_t InnermostAt(uint32_t thread, double start) {
    const auto found = threads_.find(thread);
    if (found == threads_.end()) return kNoRow;
    std::vector<Open>& open = found->second.open;
    // An event that ends also closes the events that began in it.
    while (!open.empty() && open.back().first_end < start)
      open.pop_back();
    return open.empty() ? found->second.below : open.back().row;
  }
  void Begin(uint32_t thread, uint32_t row) {
    std::vector<Open>& open = threads_[thread].open;
    const double end = events_.end_us[row];
    open.push_back({row, open.empty() ? end : std::min(end, open.back().first_end)});
  }
  // Sets the parent of the thread's events when nothing is open there.
  void SetBelow(uint32_t thread, uint32_t row) { threads_[thread].below = row; }

 private:
  struct Open {
    uint32_t row;
    double first_end;  // smallest end of it and the enclosing ones
  };
  struct Thread {
    std::vector<Open> open;
    uint32_t below = kNoRow;
  };
  const FunctionEvents& events_;
  std::unordered_map<uint32_t, Thread> threads_;
};

// Appends children to the lists first_child / next_sibling in O(1).
class ChildList {
 public:
  explicit ChildList(FunctionEvents* events) : events_(*events), last_child_(events->size(), kNoRow) {
    events_.parent.assign(events_.size(), EventIndex::kNone);
    events_.first_child.assign(events_.size(), EventIndex::kNone);
    events_.next_sibling.assign(events_.size(), EventIndex::kNone);
  }
  void Add(uint32_t parent, uint32_t child) {
    events_.parent[child] = EventIndex{parent};
    uint32_t& last = last_child_[parent];
    (last == kNoRow ? events_.first_child[parent] : events_.next_sibling[last]) = EventIndex{child};
    last = child;
  }

 private:
  FunctionEvents& events_;
  std::vector<uint32_t> last_child_;
};

}  // namespace

void BuildCallTree(EventListWork* work) {
  FunctionEvents& events = work->events;
  const size_t n = events.size();
  ChildList children(&events);
  std::vector<std::vector<uint32_t>> open(work->lane_count);
  for (size_t i = 0; i < n; ++i) {
    if (!NestsOnThread(events.flags[i])) continue;
    std::vector<uint32_t>& stack = open[work->lane[i]];
    while (!stack.empty() &&
           (events.start_us[i] >= events.end_us[stack.back()] || events.end_us[i] > events.end_us[stack.back()])) {
      stack.pop_back();
    }
    const auto row = static_cast<uint32_t>(i);
    if (!stack.empty()) children.Add(stack.back(), row);
    stack.push_back(row);
  }
}

void BuildCollectedTree(const Trace& trace, EventListWork* work) {
  FunctionEvents& events = work->events;
  ChildList children(&events);
  OpenEvents open(events);
  for (uint32_t row = 0; row < events.size(); ++row) {
    if (IsDeviceEvent(events, row)) continue;
    const uint32_t thread = events.thread[row];
    uint32_t parent = open.InnermostAt(thread, events.start_us[row]);
    const SpanId span = events.span[row];
    const uint64_t forward = span == SpanId::kNone ? 0 : trace.spans().forward_thread[Row(span)];
    if (parent == kNoRow && forward != 0 && forward != thread) {
      parent = open.InnermostAt(static_cast<uint32_t>(forward), events.start_us[row]);
      if (parent != kNoRow) open.SetBelow(thread, parent);
    }
    if (parent != kNoRow) children.Add(parent, row);
    if (events.end_us[row] > events.start_us[row]) open.Begin(thread, row);
  }
  for (uint32_t row = 0; row < work->kernel_of.size(); ++row) {
    const KernelRange range = work->kernel_of[row];
    for (uint32_t k = range.first; k < range.first + range.count; ++k) {
      const uint32_t kernel = Row(work->kernels[k]);
      if (events.parent[kernel] == EventIndex::kNone) children.Add(row, kernel);
    }
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
  std::vector<uint32_t> kept;
  kept.reserve(n - folded);
  for (uint32_t i = 0; i < n; ++i)
    if (!is_folded[i]) kept.push_back(i);
  ChooseEvents(kept, work);
}

}  // namespace opscope
