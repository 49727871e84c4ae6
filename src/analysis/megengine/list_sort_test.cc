// SPDX-License-Identifier: Apache-2.0
#include "analysis/megengine/list_sort.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace opscope {
namespace {

std::vector<uint32_t> Sorted(const std::vector<double>& keys) {
  std::vector<SortedRow> rows;
  for (const double key : keys)
    rows.push_back({.key = key, .row = static_cast<uint32_t>(rows.size())});
  TimSort(&rows);
  std::vector<uint32_t> order;
  for (const SortedRow& row : rows)
    order.push_back(row.row);
  return order;
}

// sorted(range(4), key=[3, nan, 1, 2].__getitem__) and the like.
TEST(ListSort, LeavesNaNsWherePythonDoes) {
  const double nan = std::nan("");
  EXPECT_THAT(Sorted({3, nan, 1, 2}), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Sorted({nan, 2, 1}), testing::ElementsAre(0, 2, 1));
  EXPECT_THAT(Sorted({2, nan, 1}), testing::ElementsAre(0, 1, 2));
}

// Long enough for merges and galloping; without NaNs there is one stable order.
TEST(ListSort, IsStable) {
  std::mt19937 random(7);
  for (const uint32_t kinds : {2u, 50u, 100000u}) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{1000}, size_t{5000}}) {
      std::vector<double> keys(size);
      for (double& key : keys)
        key = static_cast<double>(random() % kinds);
      std::sort(keys.begin(), keys.begin() + static_cast<ptrdiff_t>(size / 3));
      std::vector<uint32_t> expected(size);
      for (uint32_t i = 0; i < size; ++i)
        expected[i] = i;
      std::stable_sort(expected.begin(), expected.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
      EXPECT_EQ(Sorted(keys), expected) << kinds << " kinds, " << size << " keys";
    }
  }
}

}  // namespace
}  // namespace opscope
