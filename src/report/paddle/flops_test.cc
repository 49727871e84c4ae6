// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "opscope/paddle/table.h"

namespace opscope {
namespace {

TEST(PaddleFlopsReport, IndentsDeepLayersByNoMoreThanPythonCanNest) {
  std::vector<PaddleLayer> layers;
  for (const size_t depth : {2, 4, 5000})
    layers.push_back({.name = "layer" + std::to_string(depth), .depth = depth, .time = 5, .flops = 1});
  const std::string text = FormatPaddleFlops(layers);
  EXPECT_NE(text.find("\nlayer2 latency"), std::string::npos);
  EXPECT_NE(text.find("\n  layer4 latency"), std::string::npos);
  EXPECT_NE(text.find("\n" + std::string(1000, ' ') + "layer5000 latency"), std::string::npos);
}

}  // namespace
}  // namespace opscope
