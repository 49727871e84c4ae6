// SPDX-License-Identifier: Apache-2.0
#include "base/sort_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace opscope {
namespace {

using Values = std::vector<std::pair<int, int>>;

bool HasLessKey(const std::pair<int, int>& a, const std::pair<int, int>& b) {
  return a.first < b.first;
}

TEST(SortRuns, GivesWhatAStableSortGives) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    Values values;
    const int range = 1 + static_cast<int>(random() % 40);
    for (auto i = static_cast<int>(random() % 50); i > 0; --i)
      values.emplace_back(static_cast<int>(random() % 1000) % range, i);
    if (round % 2 == 0) std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    Values expected = values;
    std::stable_sort(expected.begin(), expected.end(), &HasLessKey);
    SortRuns(&values, &HasLessKey);
    EXPECT_EQ(values, expected);
  }
}

TEST(SortRuns, ComparesSortedValuesOncePerValue) {
  std::vector<int> values(1000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int>(i);
  size_t comparisons = 0;
  SortRuns(&values, [&](int a, int b) { return ++comparisons, a < b; });
  EXPECT_LE(comparisons, values.size());
}

}  // namespace
}  // namespace opscope
