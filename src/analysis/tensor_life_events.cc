// Finds by how many bytes the memory of tensors grows when one begins, and shrinks when one ends. A view shares the
// memory of its tensor, so addresses that several tensors cover count once; a tensor without an address counts with all
// of its bytes.
//
//   time 10  A begins at [0, 100)     +100
//   time 20  its view at [40, 60)        0
//   time 30  A ends                    -80
//
// A map has the addresses at which the number of covering tensors changes. A tensor that begins or ends costs O(log n)
// and the changes within its range.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/tensor_life_events.h"

#include <tsl/robin_set.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>

#include "analysis/steps_of_ranks.h"
#include "base/hash.h"
#include "base/saturating.h"

namespace opscope {
namespace {

// The number of addresses that at least one of several ranges covers, as ranges come and go.
class CoveredAddresses {
 public:
  [[nodiscard]] uint64_t size() const { return size_; }
  void Add(uint64_t begin, uint64_t end) { Change(begin, end, 1); }
  // REQUIRES: Add was called with the same range, and it was not removed since.
  void Remove(uint64_t begin, uint64_t end) { Change(begin, end, -1); }

 private:
  using Counts = std::map<uint64_t, int64_t>;  // from an address until the next one

  void Change(uint64_t begin, uint64_t end, int64_t by) {
    if (begin >= end) return;
    const Counts::iterator first = Split(begin), last = Split(end);
    for (auto at = first; at != last; ++at) {
      const int64_t before = std::exchange(at->second, at->second + by);
      const uint64_t length = std::next(at)->first - at->first;
      if (before == 0) size_ += length;
      if (at->second == 0) size_ -= length;
    }
    Join(last);
    Join(first);
  }
  Counts::iterator Split(uint64_t address) {
    const auto next = counts_.upper_bound(address);
    if (next == counts_.begin()) return counts_.emplace_hint(next, address, 0);
    const auto before = std::prev(next);
    return before->first == address ? before : counts_.emplace_hint(next, address, before->second);
  }
  // Removes an address at which nothing changes.
  void Join(Counts::iterator at) {
    const int64_t before = at == counts_.begin() ? 0 : std::prev(at)->second;
    if (at->second == before) counts_.erase(at);
  }

  Counts counts_;
  uint64_t size_ = 0;
};

// The memory of the tensors that live.
class TensorMemory {
 public:
  explicit TensorMemory(const Trace& trace) : lives_(trace.tensor_lives()) {}

  // Each returns by how much the covered memory changes.
  int64_t Begin(uint32_t row) {
    const int64_t before = Covered();
    if (lives_.address[row] == 0) return Size(row);
    covered_.Add(lives_.address[row], EndOf(row));
    return Covered() - before;
  }
  int64_t End(uint32_t row) {
    const int64_t before = Covered();
    if (lives_.address[row] == 0) return -Size(row);
    covered_.Remove(lives_.address[row], EndOf(row));
    return Covered() - before;
  }

 private:
  static int64_t Clamp(uint64_t bytes) { return static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX)); }
  int64_t Covered() const { return Clamp(covered_.size()); }
  int64_t Size(uint32_t row) const { return Clamp(lives_.bytes[row]); }
  uint64_t EndOf(uint32_t row) const {
    const uint64_t address = lives_.address[row];
    return address + std::min(lives_.bytes[row], UINT64_MAX - address);
  }

  const TensorLifeColumns& lives_;
  CoveredAddresses covered_;
};

}  // namespace

std::vector<TensorLifeEvent> TensorLifeEvents(const Trace& trace, std::span<const uint32_t> rows) {
  const TensorLifeColumns& lives = trace.tensor_lives();
  std::vector<TensorLifeEvent> events;
  for (const uint32_t row : rows) {
    if (lives.bytes[row] == 0) continue;
    const int64_t begin = lives.produced[row].ns, duration = lives.duration[row].ns;
    events.push_back({.time_ns = begin, .row = row});
    if (duration >= 0) events.push_back({.time_ns = SaturatingAdd(begin, duration), .row = row, .is_end = true});
  }
  const auto order = [](const TensorLifeEvent& event) { return std::tie(event.time_ns, event.is_end, event.row); };
  std::sort(events.begin(), events.end(),
            [&](const TensorLifeEvent& a, const TensorLifeEvent& b) { return order(a) < order(b); });
  TensorMemory memory(trace);
  for (TensorLifeEvent& event : events)
    event.bytes = event.is_end ? memory.End(event.row) : memory.Begin(event.row);
  return events;
}

std::vector<CoveredByTensor> TensorsAfter(const Trace& trace, std::span<const TensorLifeEvent> events) {
  tsl::robin_set<uint32_t, MixedHash> ended;
  for (const TensorLifeEvent& event : events)
    if (event.is_end) ended.insert(event.row);
  TensorMemory memory(trace);
  std::vector<CoveredByTensor> live;
  for (const TensorLifeEvent& event : events)
    if (!event.is_end && !ended.contains(event.row)) live.push_back({event.row, memory.Begin(event.row)});
  return live;
}

LivesByStream TensorLivesByStream(const Trace& trace) {
  const TensorLifeColumns& lives = trace.tensor_lives();
  LivesByStream of_streams;
  for (uint32_t row = 0; row < lives.size(); ++row) {
    const TrackId track = lives.track[row];
    of_streams[{track == TrackId::kNone ? -1 : RankOfTrack(trace, track), Row(track)}].push_back(row);
  }
  return of_streams;
}

MemoryPlace PlaceOfStream(const Trace& trace, TrackId stream) {
  if (stream == TrackId::kNone) return {};
  const std::string_view name = trace.text(trace.tracks().name[Row(stream)]);
  return {.rank = RankOfTrack(trace, stream),
          .device_type = name.starts_with("gpu") ? 1 : 0,
          .device = trace.tracks().device[Row(stream)]};
}

}  // namespace opscope
