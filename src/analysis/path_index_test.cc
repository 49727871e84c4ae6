// SPDX-License-Identifier: Apache-2.0
#include "analysis/path_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace opscope {
namespace {

TEST(PathIndex, FindsWhatAMapFinds) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    PathIndex index;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> nodes;
    uint32_t node = 1;  // 0 is the root, which no name leads to
    for (int i = 0; i < 5000; ++i) {
      const auto parent = static_cast<uint32_t>(random() % node), name = static_cast<uint32_t>(random() % 7);
      const auto found = nodes.find({parent, name});
      EXPECT_EQ(index.Find(parent, name), found == nodes.end() ? PathIndex::kNone : found->second) << "seed " << seed;
      if (found != nodes.end()) continue;
      index.Add(parent, name, node);
      nodes[{parent, name}] = node++;
      if (random() % 4 == 0) ++node;  // a node that the index does not have, of a thread
    }
    for (const auto& [path, number] : nodes)
      EXPECT_EQ(index.Find(path.first, path.second), number);
  }
}

}  // namespace
}  // namespace opscope
