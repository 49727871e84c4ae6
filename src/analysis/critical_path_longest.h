// The longest path through the graph of one rank. docs/reference/critical_path.md has the rules.
//
//   LongestPath longest(lanes, works, calls, lane_of_tracks, trace.spans());
//   longest.Find();
//   for (const PathStretch& stretch : longest.Stretches()) ...
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/critical_path_lanes.h"
#include "analysis/critical_path_works.h"
#include "opscope/analysis/critical_path.h"

namespace opscope {

// A part of the path: one edge, or the pieces of a lane between two of its nodes.
struct PathStretch {
  uint32_t lane = kNoPathNode;  // kNoPathNode: an edge, which `kind` and `node` describe
  PathEdgeKind kind = PathEdgeKind::kHost;
  uint32_t node = 0;           // a call for kSync, else a work: the one behind kLaunch and kQueue, or itself
  int64_t begin = 0, end = 0;  // ns
};

class LongestPath {
 public:
  // `calls`: those that wait for a work, by end. All must outlive this.
  LongestPath(const std::vector<HostLane>& lanes, const PathWorks& works, const std::vector<BlockingCall>& calls,
              const std::vector<uint32_t>& lane_of_tracks, const SpanColumns& spans);

  // Length of the longest path in ns. O(n log n) in works and calls.
  int64_t Find();
  // The path, in order of time. REQUIRES: Find.
  [[nodiscard]] std::vector<PathStretch> Stretches() const;

 private:
  // From `time` on, the longest path to a moment of the lane is `gain` more than the weight of the lane until then.
  struct Gain {
    int64_t time, gain;  // ns
    uint32_t call;       // the blocking call from which the gain comes
  };
  struct Release {
    uint32_t from = kNoPathNode;  // a work, or kByLaunch
    int64_t time = 0;
  };
  // Nodes whose order is open because works of length 0 lie between them.
  struct MomentNode {
    int64_t length = 0;
    uint32_t from = kNoPathNode;  // of a work as came_from_; of a lane a call
    uint32_t work = kNoPathNode, lane = kNoPathNode;
    bool is_reached = false;
  };
  struct MomentEdge {
    uint32_t from, to;  // nodes
    uint32_t by;        // MomentNode::from of `to`
  };
  struct Moment {
    uint32_t first_work, last_work;
    size_t first_call, last_call;
  };

  static constexpr uint32_t kByLaunch = kNoPathNode - 1;

  // Calls use(release) for each, those that win at equal times first.
  template <typename Use>
  void ForEachRelease(uint32_t work, const Use& use) const {
    const int64_t begin = works_.Begin(work);
    if (works_.Launch(work) != kNoPathNode && works_.LaunchBegin(work) <= begin)
      use(Release{kByLaunch, works_.LaunchBegin(work)});
    const auto use_work = [&](uint32_t from) {
      if (const int64_t end = works_.End(from); end <= begin) use(Release{from, end});
    };
    if (works_.Before(work) != kNoPathNode) use_work(works_.Before(work));
    works_.ForEachAwaited(work, use_work);
  }
  Release LatestRelease(uint32_t work) const;
  uint32_t LaneOfLaunch(uint32_t work) const;
  int64_t LengthAt(uint32_t lane, int64_t time) const;
  // REQUIRES: the work that the release comes from has its length.
  int64_t LengthAt(const Release& release, uint32_t work) const;
  int64_t LengthThrough(uint32_t call) const;
  const Gain* GainAt(uint32_t lane, int64_t time) const;
  void Reach(uint32_t work, int64_t length, uint32_t from);
  void AddGain(uint32_t lane, int64_t length, uint32_t call);
  void Settle(const Moment& moment);
  void SettleWithEmptyWorks(const Moment& moment);
  std::vector<MomentNode> NodesOf(const Moment& moment, std::vector<MomentEdge>* edges) const;

  const std::vector<HostLane>& lanes_;
  const PathWorks& works_;
  const std::vector<BlockingCall>& calls_;
  const std::vector<uint32_t>& lane_of_tracks_;
  const SpanColumns& spans_;
  std::vector<std::vector<Gain>> gains_;  // by lane, in order of time
  std::vector<int64_t> length_to_end_;    // ns, of the longest path to the end of each work
  std::vector<uint32_t> came_from_;       // its release: a work, kByLaunch, or kNoPathNode if it begins the path
  uint32_t last_lane_ = kNoPathNode, last_work_ = kNoPathNode;  // where the path ends
};

}  // namespace opscope
