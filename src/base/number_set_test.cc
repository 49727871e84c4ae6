// SPDX-License-Identifier: Apache-2.0
#include "base/number_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace opscope {
namespace {

TEST(NumberSet, FindsTheIndicesOfNumbersNearAndFar) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2'000; ++round) {
    const uint64_t range = uint64_t{1} << random() % 33;
    const auto base = static_cast<uint32_t>(random() % ((uint64_t{1} << 32) - range + 1));
    std::vector<uint32_t> numbers(random() % 40);
    for (uint32_t& number : numbers)
      number = base + static_cast<uint32_t>(random() % range);
    const std::set<uint32_t> known(numbers.begin(), numbers.end());
    const auto set = NumberSet::Of([&](const auto& use) {
      for (const uint32_t number : numbers)
        use(number);
    });
    ASSERT_EQ(set.size(), known.size());
    for (const uint32_t number : numbers) {
      EXPECT_EQ(set.IndexOf(number), static_cast<size_t>(std::distance(known.begin(), known.find(number))));
      for (const uint32_t near : {number - 1, number + 1, number ^ 0x80000000u})
        EXPECT_EQ(set.IndexOf(near) != NumberSet::kNone, known.contains(near)) << near;
    }
    for (const uint32_t edge : {0u, UINT32_MAX})
      EXPECT_EQ(set.IndexOf(edge) != NumberSet::kNone, known.contains(edge)) << edge;
  }
}

}  // namespace
}  // namespace opscope
