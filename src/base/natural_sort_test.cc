// SPDX-License-Identifier: Apache-2.0
#include "base/natural_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/column.h"

namespace opscope {
namespace {

TEST(NaturalSort, SortsAColumnAsAStableSortDoes) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    struct Row {
      uint64_t key, number;
      bool operator==(const Row&) const = default;
    };
    Column<Row> rows;
    uint64_t key = 0;
    for (uint64_t i = 0, count = random() % 60, turns = 1 + random() % 9; i < count; ++i) {
      key = random() % turns == 0 ? random() % 20 : key + random() % 2;
      rows.push_back({key, i});
    }
    const auto by_key = [](const Row& a, const Row& b) { return a.key < b.key; };
    std::vector<Row> expected(rows.view().begin(), rows.view().end());
    std::stable_sort(expected.begin(), expected.end(), by_key);
    NaturalSort(&rows, by_key);
    ASSERT_EQ(std::vector<Row>(rows.view().begin(), rows.view().end()), expected);
  }
}

using Values = std::vector<std::pair<int, int>>;

bool HasLessKey(const std::pair<int, int>& a, const std::pair<int, int>& b) {
  return a.first < b.first;
}

TEST(NaturalSort, SortsAVectorAsAStableSortDoes) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    Values values;
    const int range = 1 + static_cast<int>(random() % 40);
    for (auto i = static_cast<int>(random() % 50); i > 0; --i)
      values.emplace_back(static_cast<int>(random() % 1000) % range, i);
    if (round % 2 == 0) std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    Values expected = values;
    std::stable_sort(expected.begin(), expected.end(), &HasLessKey);
    NaturalSort(&values, &HasLessKey);
    EXPECT_EQ(values, expected);
  }
}

TEST(NaturalSort, ComparesSortedValuesOncePerValue) {
  std::vector<int> values(1000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int>(i);
  size_t comparisons = 0;
  NaturalSort(&values, [&](int a, int b) { return ++comparisons, a < b; });
  EXPECT_LE(comparisons, values.size());
}

}  // namespace
}  // namespace opscope
