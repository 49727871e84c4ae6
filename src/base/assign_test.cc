// OPSCOPE_ASSIGN with values that move, several times in a function, and with errors.
// SPDX-License-Identifier: Apache-2.0
#include "base/assign.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace opscope {
namespace {

Result<std::unique_ptr<int>> MakeNumber(int number) {
  if (number < 0) return Error{ErrorCode::kInvalidArgument, "below 0"};
  return std::make_unique<int>(number);
}

Result<int> SumOf(int a, int b, int* calls) {
  OPSCOPE_ASSIGN(const std::unique_ptr<int> first, MakeNumber(a));
  ++*calls;
  std::pair<std::unique_ptr<int>, int> second;
  OPSCOPE_ASSIGN(second.first, MakeNumber(b));
  ++*calls;
  return *first + *second.first;
}

TEST(Assign, TakesTheValueOrReturnsTheError) {
  int calls = 0;
  EXPECT_EQ(SumOf(1, 2, &calls).value(), 3);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(SumOf(1, -1, &calls).error().message, "below 0");
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(SumOf(-1, 1, &calls).ok());
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace opscope
