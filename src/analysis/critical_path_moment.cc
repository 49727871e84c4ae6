// A moment at which works of length 0 begin and end. Their edges to works, and over syncs to lanes, have length 0 and
// may lead back: lane -> work (launched now) -> next work of the stream -> lane (a call waits for it). No edge of the
// moment has weight, so every node has the length of the best node from which it can be reached. The nodes are
// visited by descending length, and each gives its length to the successors that have none yet. So every node and edge
// is visited once, and the predecessors form a forest even if the graph has cycles.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "analysis/critical_path_longest.h"
#include "base/saturating.h"

namespace opscope {

// The works that begin and the lanes that are waited on, with the longest paths that come from earlier moments, and
// the edges between them.
std::vector<LongestPath::MomentNode> LongestPath::NodesOf(const Moment& moment, std::vector<MomentEdge>* edges) const {
  std::vector<MomentNode> nodes;
  const auto is_now = [&](uint32_t work) {  // it begins and ends now
    return work >= moment.first_work && work < moment.last_work && works_.IsEmpty(work);
  };
  std::vector<uint32_t> lanes;
  for (size_t call = moment.first_call; call < moment.last_call; ++call)
    lanes.push_back(calls_[call].lane);
  std::sort(lanes.begin(), lanes.end());
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  const uint32_t lanes_begin = moment.last_work - moment.first_work;
  const auto node_of_lane = [&](uint32_t lane) {
    const auto found = std::lower_bound(lanes.begin(), lanes.end(), lane);
    return found == lanes.end() || *found != lane ? kNoPathNode
                                                  : lanes_begin + static_cast<uint32_t>(found - lanes.begin());
  };
  for (uint32_t work = moment.first_work; work < moment.last_work; ++work) {
    const auto index = static_cast<uint32_t>(nodes.size());
    MomentNode node{.work = work};
    const Release latest = LatestRelease(work);
    ForEachRelease(work, [&](const Release& release) {
      const bool is_launch = release.from == kByLaunch;
      uint32_t from = kNoPathNode;
      if (is_launch && release.time == works_.Begin(work)) from = node_of_lane(LaneOfLaunch(work));
      if (!is_launch && is_now(release.from)) from = release.from - moment.first_work;
      if (from != kNoPathNode) {
        edges->push_back({from, index, release.from});
        return;
      }
      const int64_t waited = release.from == latest.from ? SaturatingSubtract(works_.Begin(work), release.time) : 0;
      const int64_t length = SaturatingAdd(LengthAt(release, work), waited);
      if (length <= node.length) return;
      node.length = length;
      node.from = release.from;
    });
    nodes.push_back(node);
  }
  for (const uint32_t lane : lanes)
    nodes.push_back({.length = LengthAt(lane, calls_[moment.first_call].end), .lane = lane});
  for (size_t i = moment.first_call; i < moment.last_call; ++i) {
    const auto call = static_cast<uint32_t>(i);
    const uint32_t index = node_of_lane(calls_[call].lane);
    MomentNode& node = nodes[index];
    if (is_now(calls_[call].work)) {
      edges->push_back({calls_[call].work - moment.first_work, index, call});
    } else if (LengthThrough(call) > node.length) {
      node.length = LengthThrough(call);
      node.from = call;
    }
  }
  return nodes;
}

void LongestPath::SettleWithEmptyWorks(const Moment& moment) {
  std::vector<MomentEdge> edges;
  std::vector<MomentNode> nodes = NodesOf(moment, &edges);
  std::sort(edges.begin(), edges.end(), [](const MomentEdge& a, const MomentEdge& b) { return a.from < b.from; });
  std::vector<uint32_t> by_length(nodes.size());
  std::iota(by_length.begin(), by_length.end(), 0u);
  std::stable_sort(by_length.begin(), by_length.end(),
                   [&](uint32_t a, uint32_t b) { return nodes[a].length > nodes[b].length; });
  std::vector<uint32_t> reached;
  for (const uint32_t first : by_length) {
    if (nodes[first].is_reached) continue;
    nodes[first].is_reached = true;
    reached.push_back(first);
    while (!reached.empty()) {
      const uint32_t from = reached.back();
      reached.pop_back();
      const auto is_before = [](const MomentEdge& edge, uint32_t node) { return edge.from < node; };
      auto edge = std::lower_bound(edges.begin(), edges.end(), from, is_before);
      for (; edge != edges.end() && edge->from == from; ++edge) {
        MomentNode& to = nodes[edge->to];
        if (to.is_reached) continue;
        to.is_reached = true;
        to.length = nodes[from].length;
        to.from = edge->by;
        reached.push_back(edge->to);
      }
    }
  }
  for (const MomentNode& node : nodes) {
    if (node.work != kNoPathNode) Reach(node.work, node.length, node.from);
    if (node.lane != kNoPathNode && node.from != kNoPathNode) AddGain(node.lane, node.length, node.from);
  }
}

}  // namespace opscope
