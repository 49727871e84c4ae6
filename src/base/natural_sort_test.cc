// SPDX-License-Identifier: Apache-2.0
#include "base/natural_sort.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace opscope {
namespace {

TEST(NaturalSort, SortsAsAStableSortDoes) {
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

}  // namespace
}  // namespace opscope
