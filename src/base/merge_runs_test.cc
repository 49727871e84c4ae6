// SPDX-License-Identifier: Apache-2.0
#include "base/merge_runs.h"

#include <gtest/gtest.h>

#include <random>

namespace opscope {
namespace {

TEST(MergeSortedRuns, SortsStablyWhateverTheRuns) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::pair<int, int>> items(random() % 40);
    for (size_t i = 0; i < items.size(); ++i)
      items[i] = {static_cast<int>(random() % 8 + i / (1 + random() % 9)), static_cast<int>(i)};
    const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::vector<std::pair<int, int>> expected = items;
    std::stable_sort(expected.begin(), expected.end(), less);
    MergeSortedRuns(&items, less);
    EXPECT_EQ(items, expected);
  }
}

}  // namespace
}  // namespace opscope
