// SPDX-License-Identifier: Apache-2.0
#include "base/range_maximum.h"

#include <gtest/gtest.h>

#include <random>

namespace opscope {
namespace {

TEST(RangeMaximum, IsTheLargestNumberOfEveryRange) {
  std::mt19937_64 random(1);
  for (const size_t size : {0, 1, 63, 64, 65, 128, 300, 449}) {
    std::vector<int64_t> numbers(size);
    for (int64_t& number : numbers)
      number = static_cast<int64_t>(random() % 1000) - 500;
    const RangeMaximum maxima(numbers);
    for (size_t begin = 0; begin <= size; ++begin) {
      int64_t largest = INT64_MIN;
      for (size_t end = begin; end <= size; ++end) {
        EXPECT_EQ(maxima.In(begin, end), largest) << size << " " << begin << " " << end;
        if (end < size) largest = std::max(largest, numbers[end]);
      }
    }
  }
}

}  // namespace
}  // namespace opscope
