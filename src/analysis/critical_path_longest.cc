// All edges lead forwards in time, so one sweep over the works by begin and the waits of the host by end finds the
// longest path. A lane needs no nodes: a path that enters it at s and has length L there is
// L + weight(s, t) long at t, so it is enough to remember where L - weight(before s) grew (Gain):
//
//   host [0, 10), a sync enters at 10 with length 25     gain 15 from 10 on: the path at 12 is 12 + 15 long
//
// A graph with a node per begin and end would take 100 bytes per span and a topological sort.
//
// Edges of length 0 need care. Where all works of a moment have a length, the moment's syncs come first, then its
// works. Works of length 0 may lie in cycles (lane, work, its stream, sync, lane), all of whose edges weigh 0: then
// the node that is reached by the longest path goes first and hands its length on (SettleWithEmptyWorks).
// SPDX-License-Identifier: Apache-2.0
#include "analysis/critical_path_longest.h"

#include <algorithm>
#include <iterator>

#include "base/huge_pages.h"
#include "base/saturating.h"

namespace opscope {

LongestPath::LongestPath(const std::vector<HostLane>& lanes, const PathWorks& works,
                         const std::vector<BlockingCall>& calls, const std::vector<uint32_t>& lane_of_tracks,
                         const SpanColumns& spans)
    : lanes_(lanes),
      works_(works),
      calls_(calls),
      lane_of_tracks_(lane_of_tracks),
      spans_(spans),
      gains_(lanes.size()) {
  ReserveOnHugePages(&length_to_end_, works.size());
  ReserveOnHugePages(&came_from_, works.size());
  length_to_end_.resize(works.size());
  came_from_.resize(works.size(), kNoPathNode);
}

uint32_t LongestPath::LaneOfLaunch(uint32_t work) const {
  return lane_of_tracks_[Row(spans_.track[works_.Launch(work)])];
}

LongestPath::Release LongestPath::LatestRelease(uint32_t work) const {
  Release latest;
  ForEachRelease(work, [&](const Release& release) {
    if (latest.from == kNoPathNode || release.time > latest.time) latest = release;
  });
  return latest;
}

const LongestPath::Gain* LongestPath::GainAt(uint32_t lane, int64_t time) const {
  const std::vector<Gain>& gains = gains_[lane];
  if (gains.empty() || gains.back().time <= time) return gains.empty() ? nullptr : &gains.back();  // the usual case
  const auto is_later = [](int64_t t, const Gain& gain) { return t < gain.time; };
  const auto behind = std::upper_bound(gains.begin(), gains.end(), time, is_later);
  return behind == gains.begin() ? nullptr : &*std::prev(behind);
}

int64_t LongestPath::LengthAt(uint32_t lane, int64_t time) const {
  const Gain* gain = GainAt(lane, time);
  return SaturatingAdd(lanes_[lane].WeightUntil(time), gain == nullptr ? 0 : gain->gain);
}

int64_t LongestPath::LengthAt(const Release& release, uint32_t work) const {
  return release.from == kByLaunch ? LengthAt(LaneOfLaunch(work), release.time) : length_to_end_[release.from];
}

int64_t LongestPath::LengthThrough(uint32_t call) const {
  const uint32_t work = calls_[call].work;
  return SaturatingAdd(length_to_end_[work], SaturatingSubtract(calls_[call].end, works_.End(work)));
}

void LongestPath::Reach(uint32_t work, int64_t length, uint32_t from) {
  length_to_end_[work] = SaturatingAdd(length, SaturatingSubtract(works_.End(work), works_.Begin(work)));
  came_from_[work] = from;
}

// `length`: that of the path that ends with `call`.
void LongestPath::AddGain(uint32_t lane, int64_t length, uint32_t call) {
  const int64_t time = calls_[call].end;
  gains_[lane].push_back({time, SaturatingSubtract(length, lanes_[lane].WeightUntil(time)), call});
}

void LongestPath::Settle(const Moment& moment) {
  for (uint32_t work = moment.first_work; work < moment.last_work; ++work)
    if (works_.IsEmpty(work)) return SettleWithEmptyWorks(moment);
  for (size_t i = moment.first_call; i < moment.last_call; ++i) {
    const auto call = static_cast<uint32_t>(i);
    const uint32_t lane = calls_[call].lane;
    if (LengthThrough(call) > LengthAt(lane, calls_[call].end)) AddGain(lane, LengthThrough(call), call);
  }
  for (uint32_t work = moment.first_work; work < moment.last_work; ++work) {
    Release latest, best;
    int64_t length_at_latest = 0, length = 0;
    ForEachRelease(work, [&](const Release& release) {
      const int64_t length_at = LengthAt(release, work);
      if (latest.from == kNoPathNode || release.time > latest.time) latest = release, length_at_latest = length_at;
      if (length_at > length) best = release, length = length_at;
    });
    // The latest one has a weight.
    const int64_t waited = latest.from == kNoPathNode ? 0 : SaturatingSubtract(works_.Begin(work), latest.time);
    const int64_t length_of_latest = SaturatingAdd(length_at_latest, waited);
    if (length_of_latest >= length) best = latest, length = length_of_latest;
    Reach(work, length, best.from);
  }
}

int64_t LongestPath::Find() {
  uint32_t work = 0;
  size_t call = 0;
  while (work < works_.size() || call < calls_.size()) {
    int64_t time = work < works_.size() ? works_.Begin(work) : INT64_MAX;
    if (call < calls_.size()) time = std::min(time, calls_[call].end);
    Moment moment{work, work, call, call};
    while (moment.last_work < works_.size() && works_.Begin(moment.last_work) == time)
      ++moment.last_work;
    while (moment.last_call < calls_.size() && calls_[moment.last_call].end == time)
      ++moment.last_call;
    Settle(moment);
    work = moment.last_work;
    call = moment.last_call;
  }
  int64_t longest = -1;
  for (uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    const int64_t length = LengthAt(lane, lanes_[lane].window().end);
    if (length > longest) longest = length, last_lane_ = lane;
  }
  for (uint32_t i = 0; i < works_.size(); ++i)
    if (length_to_end_[i] > longest) longest = length_to_end_[i], last_work_ = i;
  if (last_work_ != kNoPathNode) last_lane_ = kNoPathNode;
  return std::max<int64_t>(longest, 0);
}

std::vector<PathStretch> LongestPath::Stretches() const {
  std::vector<PathStretch> stretches;
  const auto add_edge = [&](PathEdgeKind kind, uint32_t node, int64_t begin, int64_t end) {
    if (begin < end) stretches.push_back({.kind = kind, .node = node, .begin = begin, .end = end});
  };
  uint32_t work = last_work_, lane = last_lane_;
  int64_t time = lane == kNoPathNode ? 0 : lanes_[lane].window().end;
  while (lane != kNoPathNode || work != kNoPathNode) {
    if (lane != kNoPathNode) {
      const Gain* gain = GainAt(lane, time);
      const int64_t begin = gain == nullptr ? lanes_[lane].window().begin : gain->time;
      if (begin < time) stretches.push_back({.lane = lane, .begin = begin, .end = time});
      lane = kNoPathNode;
      if (gain == nullptr) break;
      work = calls_[gain->call].work;
      add_edge(PathEdgeKind::kSync, gain->call, works_.End(work), gain->time);
    }
    add_edge(PathEdgeKind::kCompute, work, works_.Begin(work), works_.End(work));
    const Release latest = LatestRelease(work);
    const uint32_t from = came_from_[work];
    if (from != kNoPathNode && from == latest.from)
      add_edge(from == kByLaunch ? PathEdgeKind::kLaunch : PathEdgeKind::kQueue, work, latest.time, works_.Begin(work));
    if (from == kByLaunch) lane = LaneOfLaunch(work), time = works_.LaunchBegin(work);
    work = from == kByLaunch ? kNoPathNode : from;
  }
  std::reverse(stretches.begin(), stretches.end());
  return stretches;
}

}  // namespace opscope
