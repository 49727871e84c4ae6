// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/slice_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace opscope {
namespace {

TEST(SliceTable, GivesEqualKeysTheSameValueInThePlaceOfTheFirst) {
  SliceTable<int> table;
  table["a"] = 1, table["b"] = 2, table["a"] = 3;
  EXPECT_EQ(std::vector<int>(table.values().begin(), table.values().end()), (std::vector<int>{3, 2}));
  EXPECT_EQ(table.Find("c"), nullptr);
  EXPECT_EQ(*table.Find("b"), 2);
}

TEST(SliceTable, TellsKeysOfAnyLengthApart) {
  std::vector<std::string> keys;
  for (size_t length = 0; length < 40; ++length) {
    for (size_t other = 0; other <= length; ++other) {  // one byte, if any, is another
      keys.emplace_back(length, 'a');
      if (other < length) keys.back()[other] = 'b';
    }
  }
  SliceTable<size_t> table;
  for (size_t i = 0; i < keys.size(); ++i)
    table[keys[i]] = i;
  ASSERT_EQ(table.values().size(), keys.size());
  for (size_t i = keys.size(); i-- > 0;)
    EXPECT_EQ(*table.Find(keys[i]), i);
}

TEST(SliceTable, FindsEachKeyInWhateverOrderItIsAsked) {
  std::vector<std::string> keys;
  for (int i = 0; i < 3000; ++i)
    keys.push_back(std::to_string(i * 7));
  SliceTable<size_t> table;
  for (size_t i = 0; i < keys.size(); ++i)
    table[keys[i]] = i;
  std::vector<size_t> order(keys.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  for (const unsigned seed : {0u, 1u, 2u}) {  // 0: as they came
    if (seed != 0) std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    for (const size_t i : order) {
      ASSERT_NE(table.Find(keys[i]), nullptr) << "seed " << seed;
      EXPECT_EQ(*table.Find(keys[i]), i) << "seed " << seed;
      EXPECT_EQ(table.Find(keys[i] + "x"), nullptr);
    }
  }
}

}  // namespace
}  // namespace opscope
