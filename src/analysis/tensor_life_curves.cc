// Sums the bytes of the tensors that live at the same time. A view shares the memory of its tensor, so addresses that
// several tensors cover count once; a tensor without an address counts with all of its bytes.
//
//   time 10  A at [0, 100)       level 100
//   time 20  a view [40, 60)     level 100
//   time 30  A ends              level  20
//
// A map has the addresses at which the number of covering tensors changes, so a tensor that comes or goes costs
// O(log n) and the changes within its range.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/tensor_life_curves.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/steps_of_ranks.h"
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

// A tensor that comes or goes.
struct LifeChange {
  int64_t time_ns;
  uint32_t row;
  bool is_end;

  bool operator<(const LifeChange& other) const {
    return std::tie(time_ns, is_end, row) < std::tie(other.time_ns, other.is_end, other.row);
  }
};

MemoryCurve CurveOfChanges(const Trace& trace, const std::vector<LifeChange>& changes) {
  const TensorLifeColumns& lives = trace.tensor_lives();
  MemoryCurve curve;
  CoveredAddresses covered;
  int64_t without_address = 0;
  for (const auto& [time_ns, row, is_end] : changes) {
    const uint64_t address = lives.address[row], bytes = lives.bytes[row];
    if (address == 0) {
      const auto size = static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX));
      without_address = is_end ? SaturatingSubtract(without_address, size) : SaturatingAdd(without_address, size);
    } else if (is_end) {
      covered.Remove(address, address + std::min(bytes, UINT64_MAX - address));
    } else {
      covered.Add(address, address + std::min(bytes, UINT64_MAX - address));
    }
    const auto of_addresses = static_cast<int64_t>(std::min<uint64_t>(covered.size(), INT64_MAX));
    const int64_t level = SaturatingAdd(of_addresses, without_address);
    if (!curve.times_ns.empty() && curve.times_ns.back() == time_ns) {
      curve.bytes.back() = level;
    } else if (curve.bytes.empty() || curve.bytes.back() != level) {
      curve.times_ns.push_back(time_ns);
      curve.bytes.push_back(level);
    }
  }
  return curve;
}

}  // namespace

std::vector<MemoryCurve> MeasureTensorLifeCurves(const Trace& trace) {
  const TensorLifeColumns& lives = trace.tensor_lives();
  std::map<std::pair<int32_t, uint32_t>, std::vector<LifeChange>> by_track;
  for (uint32_t row = 0; row < lives.size(); ++row) {
    if (lives.bytes[row] == 0) continue;
    const TrackId track = lives.track[row];
    std::vector<LifeChange>& changes = by_track[{track == TrackId::kNone ? -1 : RankOfTrack(trace, track), Row(track)}];
    const int64_t begin = lives.produced[row].ns, duration = lives.duration[row].ns;
    changes.push_back({begin, row, false});
    if (duration >= 0) changes.push_back({SaturatingAdd(begin, duration), row, true});
  }
  std::vector<MemoryCurve> curves;
  for (auto& [key, changes] : by_track) {
    std::sort(changes.begin(), changes.end());
    MemoryCurve& curve = curves.emplace_back(CurveOfChanges(trace, changes));
    curve.track = TrackId{key.second};
    curve.place.rank = key.first;
    if (curve.track != TrackId::kNone) curve.place.device = trace.tracks().device[Row(curve.track)];
  }
  return curves;
}

}  // namespace opscope
