// Builds Paddle's node trees from sorted rows. The spans of a track are ordered by start, longer first, so the two
// tracks of a thread (Python, C++) are merged and nested in one pass, and runtime calls and memory events find their
// nodes in a second pass. If several nodes end or begin at the same moment, Paddle attributes an event there to the
// node that it leaves first:
//
//   a [0,20)  b [2,10) in a  c [10,12) in a      a free at 10 is b's, one at 11 is c's, one at 15 is a's
// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle/node_trees.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/track_spans.h"
#include "base/saturating.h"
#include "opscope/analysis/memory_instants.h"

namespace opscope {
namespace {

constexpr uint32_t kNone = PaddleNodeTrees::kNone;

bool IsBefore(const Interval& a, const Interval& b) {
  return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
}

// A runtime call or memory event that is to be attached to a node.
struct Attached {
  Interval time;
  uint32_t row = 0;
};

struct ThreadRows {
  uint64_t process = 0, thread = 0;
  std::vector<uint32_t> tracks;  // the Python track first
  std::vector<uint32_t> memory;  // rows of TreeBuilder::memory_
};

class TreeBuilder {
 public:
  explicit TreeBuilder(const Trace& trace) : trace_(trace), spans_(trace.spans()), types_(trace) {}

  PaddleNodeTrees Build() {
    FindThreads();
    FindMemory();
    trees_.span.reserve(spans_.size() + threads_.size());
    trees_.type.reserve(spans_.size() + threads_.size());
    trees_.start.reserve(spans_.size() + threads_.size());
    trees_.parent.reserve(spans_.size() + threads_.size());
    for (const ThreadRows& thread : threads_)
      AddThread(thread);
    GroupByNode();
    AddDevices();
    return std::move(trees_);
  }

 private:
  // The thread number of a track; Paddle's tid is a text, "123(Python)". Second: false for the Python track.
  std::pair<uint64_t, bool> ThreadOf(size_t track) const {
    const TrackColumns& tracks = trace_.tracks();
    const std::string_view text = trace_.text(tracks.tid_text[track]);
    uint64_t number = static_cast<uint64_t>(tracks.tid[track]);
    std::from_chars(text.data(), text.data() + text.size(), number);
    return {number, !text.ends_with("(Python)")};
  }

  void FindThreads() {
    const TrackColumns& tracks = trace_.tracks();
    std::vector<std::tuple<uint64_t, uint64_t, bool, uint32_t>> keys;
    for (size_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] != TrackKind::kThread) continue;
      const auto [number, is_below] = ThreadOf(track);
      const int64_t process =
          tracks.process[track] == ProcessId::kNone ? 0 : trace_.processes().pid[Row(tracks.process[track])];
      keys.emplace_back(static_cast<uint64_t>(process), number, is_below, static_cast<uint32_t>(track));
    }
    std::sort(keys.begin(), keys.end());
    thread_of_track_.assign(tracks.size(), kNone);
    for (const auto& [process, number, is_below, track] : keys) {
      if (threads_.empty() || threads_.back().process != process || threads_.back().thread != number)
        threads_.push_back({process, number, {}, {}});
      threads_.back().tracks.push_back(track);
      thread_of_track_[track] = static_cast<uint32_t>(threads_.size() - 1);
    }
  }

  void FindMemory() {
    const AllocationColumns& allocations = trace_.allocations();
    const InstantColumns& instants = trace_.instants();
    const MemoryInstants pairs(trace_);
    const auto add = [&](TrackId track, Timestamp time, PaddleMemoryRow row) {
      if (track == TrackId::kNone || thread_of_track_[Row(track)] == kNone) return;
      threads_[thread_of_track_[Row(track)]].memory.push_back(static_cast<uint32_t>(memory_.size()));
      memory_.push_back(row);
      memory_time_.push_back(time.ns);
    };
    for (size_t row = 0; row < allocations.size(); ++row)
      add(allocations.track[row], allocations.time[row], {static_cast<uint32_t>(row), pairs.OfAllocation(row)});
    const auto allocated = trace_.FindString("ReservedAllocate"), freed = trace_.FindString("ReservedFree");
    if (!allocated && !freed) return;
    for (const uint32_t row : pairs.others()) {
      const StringId category = instants.category[row];
      if (category == allocated || category == freed) add(instants.track[row], instants.time[row], {kNone, row});
    }
  }

  Interval TimeOf(uint32_t row) const { return TimeOfSpan(spans_, row); }

  // Collects the host spans of a thread's tracks in order into hosts_, runtime calls into runtime_.
  void SortCalls(const ThreadRows& thread) {
    const auto is_before = [&](uint32_t a, uint32_t b) { return IsBefore(TimeOf(a), TimeOf(b)); };
    hosts_.clear(), runtime_.clear();
    for (const uint32_t track : thread.tracks) {
      const size_t begin = hosts_.size();
      for (const uint32_t row : SpansOfTrack(trace_, track)) {
        if (types_.Of(row) == PaddleEventType::kCudaRuntime) {
          runtime_.push_back({TimeOf(row), row});
        } else {
          hosts_.push_back(row);
        }
      }
      const auto middle = hosts_.begin() + static_cast<std::ptrdiff_t>(begin);
      if (!std::is_sorted(middle, hosts_.end(), is_before)) std::stable_sort(middle, hosts_.end(), is_before);
      std::inplace_merge(hosts_.begin(), middle, hosts_.end(), is_before);
    }
  }

  void AddThread(const ThreadRows& thread) {
    SortCalls(thread);
    const auto root = static_cast<uint32_t>(trees_.size());
    Push(SpanId::kNone, PaddleEventType::kUserDefined, kNone, {INT64_MIN, INT64_MAX});
    uint32_t top = root;
    for (const uint32_t row : hosts_) {
      const Interval time = TimeOf(row);
      while (top != root && IsBehind(time, times_[top]))
        top = trees_.parent[top];
      Push(static_cast<SpanId>(row), types_.Of(row), top, time);
      top = static_cast<uint32_t>(trees_.size() - 1);
    }
    trees_.threads.push_back({thread.process, thread.thread, root, static_cast<uint32_t>(trees_.size())});
    trees_.end.resize(trees_.size());
    for (uint32_t node = trees_.threads.back().end_node; node-- > root;) {
      trees_.end[node] = std::max(trees_.end[node], node + 1);
      if (node != root) trees_.end[trees_.parent[node]] = std::max(trees_.end[trees_.parent[node]], trees_.end[node]);
    }
    Attach(&runtime_, &calls_);
    frees_.clear();
    for (const uint32_t row : thread.memory)
      frees_.push_back({{memory_time_[row], memory_time_[row]}, row});
    Attach(&frees_, &kept_memory_);
  }

  // True if `next` follows `around` rather than lies in it. Paddle's JSON truncates starts to microseconds, so a
  // successor may seem to begin before its predecessor's end.
  static bool IsBehind(const Interval& next, const Interval& around) {
    constexpr int64_t kMicrosecond = 1000;
    if (next.begin >= around.end) return true;
    return next.end > around.end && SaturatingSubtract(around.end, next.begin) < kMicrosecond;
  }

  void Push(SpanId span, PaddleEventType type, uint32_t parent, const Interval& time) {
    trees_.span.push_back(span);
    trees_.type.push_back(type);
    trees_.start.push_back(time.begin);
    trees_.parent.push_back(parent);
    times_.push_back(time);
  }

  // Appends (node, row) for each item, in order of time.
  void Attach(std::vector<Attached>* items, std::vector<std::pair<uint32_t, uint32_t>>* attached) const {
    const auto is_before = [](const Attached& a, const Attached& b) { return IsBefore(a.time, b.time); };
    if (!std::is_sorted(items->begin(), items->end(), is_before))
      std::stable_sort(items->begin(), items->end(), is_before);
    const uint32_t root = trees_.threads.back().first_node, end = trees_.threads.back().end_node;
    uint32_t top = root, next = root + 1;
    for (const Attached& item : *items) {
      const auto [start, stop] = item.time;
      while (next < end && times_[next].begin < start)
        top = next++;
      while (top != root && times_[top].end < start)
        top = trees_.parent[top];
      uint32_t node = top;
      if (start != stop || top == root || times_[top].end != start) {
        // Descend through nodes that begin at the same moment.
        for (uint32_t inner = next; inner < end && times_[inner].begin == start && times_[inner].end >= stop; ++inner) {
          if (inner != next && trees_.parent[inner] != inner - 1) break;
          node = inner;
        }
      }
      while (node != root && times_[node].end < stop)
        node = trees_.parent[node];
      attached->emplace_back(node, item.row);
    }
  }

  // Counting sort of (node, item) or (call, item) pairs: `first` gets where the values of each of `groups` begin.
  template <typename Item, typename Value, typename Of>
  static void Group(size_t groups, const std::vector<std::pair<uint32_t, Item>>& attached, std::vector<uint32_t>* first,
                    std::vector<Value>* values, const Of& of) {
    first->assign(groups + 1, 0);
    for (const auto& [group, item] : attached)
      ++(*first)[group + 1];
    for (size_t group = 0; group < groups; ++group)
      (*first)[group + 1] += (*first)[group];
    std::vector<uint32_t> place(first->begin(), first->end() - 1);
    values->resize(attached.size());
    for (const auto& [group, item] : attached)
      (*values)[place[group]++] = of(item);
  }

  void GroupByNode() {
    Group(trees_.size(), calls_, &trees_.first_call, &trees_.call,
          [](uint32_t row) { return static_cast<SpanId>(row); });
    Group(trees_.size(), kept_memory_, &trees_.first_memory, &trees_.memory,
          [&](uint32_t row) { return memory_[row]; });
  }

  bool IsOfDevice(SpanId span) const {
    return span != SpanId::kNone && trace_.tracks().kind[Row(spans_.track[Row(span)])] == TrackKind::kDeviceStream;
  }

  // Attaches device spans to calls by flows; spans without a flow by correlation.
  void AddDevices() {
    trees_.first_device.assign(trees_.call.size() + 1, 0);
    if (trees_.call.empty()) return;
    std::vector<uint32_t> call_of(spans_.size(), kNone);
    for (size_t call = 0; call < trees_.call.size(); ++call)
      call_of[Row(trees_.call[call])] = static_cast<uint32_t>(call);
    std::vector<std::pair<uint32_t, SpanId>> launched;
    std::vector<bool> is_launched(spans_.size());
    const FlowColumns& flows = trace_.flows();
    for (size_t flow = 0; flow < flows.size(); ++flow) {
      const SpanId from = flows.start_span[flow], to = flows.end_span[flow];
      if (from == SpanId::kNone || call_of[Row(from)] == kNone || !IsOfDevice(to) || is_launched[Row(to)]) continue;
      launched.emplace_back(call_of[Row(from)], to);
      is_launched[Row(to)] = true;
    }
    AddByCorrelation(&launched, is_launched);
    Group(trees_.call.size(), launched, &trees_.first_device, &trees_.device, [](SpanId span) { return span; });
  }

  void AddByCorrelation(std::vector<std::pair<uint32_t, SpanId>>* launched, const std::vector<bool>& is_launched) {
    const TrackColumns& tracks = trace_.tracks();
    std::unordered_map<uint32_t, uint32_t> call_with;
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] != TrackKind::kDeviceStream) continue;
      for (const uint32_t row : SpansOfTrack(trace_, track)) {
        if (is_launched[row] || spans_.correlation[row] == 0) continue;
        if (call_with.empty()) {
          for (size_t call = 0; call < trees_.call.size(); ++call)
            call_with.insert_or_assign(spans_.correlation[Row(trees_.call[call])], static_cast<uint32_t>(call));
        }
        const auto call = call_with.find(spans_.correlation[row]);
        if (call != call_with.end()) launched->emplace_back(call->second, static_cast<SpanId>(row));
      }
    }
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  const PaddleEventTypes types_;
  std::vector<ThreadRows> threads_;
  std::vector<uint32_t> thread_of_track_;
  std::vector<PaddleMemoryRow> memory_;
  std::vector<int64_t> memory_time_;
  std::vector<uint32_t> hosts_;                                     // of one thread
  std::vector<Attached> runtime_, frees_;                           // of one thread
  std::vector<Interval> times_;                                     // by node
  std::vector<std::pair<uint32_t, uint32_t>> calls_, kept_memory_;  // node and row
  PaddleNodeTrees trees_;
};

}  // namespace

PaddleNodeTrees BuildPaddleNodeTrees(const Trace& trace) {
  return TreeBuilder(trace).Build();
}

}  // namespace opscope
