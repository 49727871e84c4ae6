// Expected numbers are those that paddle.utils.flops of paddlepaddle 3.3.1 gives for the same shapes and attributes.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/paddle/flops.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace opscope {
namespace {

TEST(PaddleFlops, CountAProductOfMatricesOverAllBatches) {
  EXPECT_EQ(PaddleFlops("matmul dygraph", R"("input_shapes": {"x": [[7, 2, 3]], "y": [[3, 4]]})"), 336);
  EXPECT_EQ(
      PaddleFlops("matmul", R"("input_shapes": {"X": [[2, 3]], "Y": [[4, 3]]}, "attributes": {"transpose_Y": true})"),
      48);
  EXPECT_EQ(PaddleFlops("matmul_v2 compute",
                        R"("input_shapes": {"X": [[3, 2]], "Y": [[3, 4]]}, "attributes": {"trans_x": true})"),
            48);
}

TEST(PaddleFlops, CountAConvolutionWithItsBias) {
  const std::string_view attributes =
      R"("attributes": {"paddings": [1, 1], "strides": [2, 2], "dilations": [1, 1], "groups": 1})";
  EXPECT_EQ(
      PaddleFlops("conv2d", R"("input_shapes": {"Input": [[2, 3, 9, 9]], "Filter": [[4, 3, 3, 3]], "Bias": [[4]]}, )" +
                                std::string(attributes)),
      11000);
}

int64_t FlopsOfConvolution(const std::string& shapes, const std::string& attributes) {
  return PaddleFlops("conv2d", "\"input_shapes\": {" + shapes + "}, \"attributes\": {" + attributes + "}");
}

TEST(PaddleFlops, SaturateForAConvolutionOfAnySize) {
  const std::string most = "9223372036854775807", least = "-9223372036854775808";
  EXPECT_EQ(FlopsOfConvolution(R"("Input": [[1, 1, )" + most + R"(]], "Filter": [[1, 1, 1]], "Bias": [[1]])",
                               R"("paddings": [1], "strides": [1], "dilations": [1], "groups": 1)"),
            INT64_MAX);
  EXPECT_EQ(FlopsOfConvolution(
                R"("Input": [[1, 1, 9]], "Filter": [[1, 1, 3]], "Bias": [[1]])",
                R"("paddings": [)" + least + R"(], "strides": [1], "dilations": [)" + most + R"(], "groups": 1)"),
            INT64_MIN);
}

TEST(PaddleFlops, AreNoneForAConvolutionThatCannotBe) {
  const std::string least = "-9223372036854775808";
  const std::string shapes = R"("Input": [[1, 1, 9]], "Filter": [[1, 1, 3]])";
  EXPECT_EQ(
      FlopsOfConvolution(shapes, R"("paddings": [)" + least + R"(], "strides": [-1], "dilations": [1], "groups": 1)"),
      0);
  EXPECT_EQ(FlopsOfConvolution(shapes, R"("paddings": [0], "strides": [1], "dilations": [1], "groups": -1)"), 0);
  EXPECT_EQ(FlopsOfConvolution(R"("Input": [[1, 1, 9]], "Filter": [[)" + least + R"(, 1, 3]])",
                               R"("paddings": [0], "strides": [1], "dilations": [1], "groups": -1)"),
            0);
  EXPECT_EQ(FlopsOfConvolution(R"("Input": [[1, 1, 9]], "Filter": [[1, 1, )" + least + "]]",
                               R"("paddings": [0], "strides": [1], "dilations": [1], "groups": 1)"),
            0);
}

TEST(PaddleFlops, CountElementsOfWhatIsDoneToEach) {
  const std::string_view x = R"("input_shapes": {"X": [[2, 3, 5]], "Y": [[5]]})";
  EXPECT_EQ(PaddleFlops("elementwise_add", x), 30);
  EXPECT_EQ(PaddleFlops("relu dygraph", x), 30);
  EXPECT_EQ(PaddleFlops("softmax", x), 90);
  EXPECT_EQ(PaddleFlops("gelu", x), 150);
  EXPECT_EQ(PaddleFlops("layer_norm", x), 210);
  EXPECT_EQ(PaddleFlops("layer_norm", std::string(x) + R"(, "attributes": {"epsilon": 1e-05})"), 240);
}

TEST(PaddleFlops, AreNoneWhereAnythingIsMissing) {
  EXPECT_EQ(PaddleFlops("matmul dygraph", R"("input_shapes": {"x": [[7]], "y": [[3, 4]]})"), 0);
  EXPECT_EQ(PaddleFlops("matmul dygraph", R"("input_shapes": {"x": [], "y": [[3, 4]]})"), 0);
  EXPECT_EQ(PaddleFlops("matmul dygraph", ""), 0);
  EXPECT_EQ(PaddleFlops("conv2d", R"("input_shapes": {"Input": [[2, 3, 9, 9]], "Filter": [[4, 3, 3, 3]]})"), 0);
  EXPECT_EQ(PaddleFlops("reshape2", R"("input_shapes": {"X": [[2, 3]]})"), 0);
}

}  // namespace
}  // namespace opscope
