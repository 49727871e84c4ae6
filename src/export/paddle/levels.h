// The order in which Paddle writes the nodes of a thread: breadth first, level by level. O(nodes), by counting sort.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/paddle/node_trees.h"

namespace opscope {

struct PaddleLevels {
  std::vector<uint32_t> nodes;   // the root first; within a level in order of node
  std::vector<uint32_t> number;  // index in `nodes` by node number within the thread
};

inline PaddleLevels OrderByLevel(const PaddleNodeTrees& trees, const PaddleThread& thread) {
  const uint32_t count = thread.end_node - thread.first_node;
  // Counting sort: the number of nodes on each level gives its first index.
  std::vector<uint32_t> level(count, 0), first = {1};
  for (uint32_t i = 1; i < count; ++i) {
    level[i] = level[trees.parent[thread.first_node + i] - thread.first_node] + 1;
    if (level[i] >= first.size()) first.push_back(0);
    ++first[level[i]];
  }
  uint32_t next = 0;
  for (uint32_t& each : first) {
    const uint32_t here = each;
    each = next;
    next += here;
  }
  PaddleLevels levels{std::vector<uint32_t>(count), std::vector<uint32_t>(count)};
  for (uint32_t i = 0; i < count; ++i) {
    levels.number[i] = first[level[i]]++;
    levels.nodes[levels.number[i]] = thread.first_node + i;
  }
  return levels;
}

}  // namespace opscope
