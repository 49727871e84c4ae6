// SPDX-License-Identifier: Apache-2.0
#include "analysis/paddle/operator_name.h"

#include <gtest/gtest.h>

#include <string>

namespace opscope {
namespace {

TEST(PaddleOperatorName, IsTheEventsWithoutItsSuffixes) {
  EXPECT_EQ(PaddleOperatorName("matmul"), "matmul");
  EXPECT_EQ(PaddleOperatorName("matmul dygraph"), "matmul");
  EXPECT_EQ(PaddleOperatorName("a compute b compute pybind_imperative_func"), "a b");
  EXPECT_EQ(PaddleOperatorName("a dy dygraphgraph"), "a dygraph") << "as by Python's replace()";
}

TEST(PaddleOperatorName, OfALongEventTakesLinearTime) {
  std::string event = "relu";
  for (int i = 0; i < 400'000; ++i)
    event += " dygraph";
  EXPECT_EQ(PaddleOperatorName(event), "relu");
}

}  // namespace
}  // namespace opscope
