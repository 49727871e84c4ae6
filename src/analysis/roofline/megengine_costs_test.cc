// Costs of MegEngine's operators, counted by hand; 4, 2 and 1 are bytes per element of Float32, Float16 and Bool.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "analysis/roofline/roofline_program_for_test.h"

namespace opscope {
namespace {

TestArgument Floats(std::vector<int64_t> sizes) {
  return T("Float32", std::move(sizes));
}

std::string ConvolutionAttributes(int stride, int padding, int dilation, const char* format = "NCHW") {
  std::string attributes = "\"format\": \"" + std::string(format) + '"';
  for (const auto& [name, value] : {std::pair("stride", stride), {"pad", padding}, {"dilate", dilation}}) {
    for (const char dimension : {'d', 'h', 'w'})
      attributes += std::string(", \"") + name + '_' + dimension + "\": \"" + std::to_string(value) + '"';
  }
  return attributes;
}

// 16 x 16 positions, window of 3, stride of 2, padding of 1: 8 x 8 positions.
TEST(MegEngineCost, OfAConvolutionAndItsGradients) {
  const int64_t flops = 2 * (2 * 8 * 8 * 8) * (4 * 3 * 3);
  const int64_t input = 2 * 4 * 16 * 16, filter = 8 * 4 * 3 * 3, result = 2 * 8 * 8 * 8;
  const auto x = Floats({2, 4, 16, 16}), w = Floats({8, 4, 3, 3}), y = Floats({2, 8, 8, 8});
  const CallWork expected = {flops, 4 * (input + filter + result)};
  EXPECT_EQ(WorkOfCall("Convolution", {x, w}, ConvolutionAttributes(2, 1, 1)), expected);
  EXPECT_EQ(WorkOfCall("ConvolutionBackwardDataV2", {w, y, x}), expected);
  EXPECT_EQ(WorkOfCall("ConvolutionBackwardFilterV2", {x, y, w}), expected);
}

TEST(MegEngineCost, OfAConvolutionOfGroupsAndOfThreeDimensions) {
  // 4 groups of 2 channels; a window of 3 with dilation 2 reaches over 5 positions, so 8 x 8 are 4 x 4.
  EXPECT_EQ(WorkOfCall("Convolution", {Floats({2, 8, 8, 8}), Floats({4, 2, 2, 3, 3})}, ConvolutionAttributes(1, 0, 2)),
            (CallWork{2 * (2 * 8 * 4 * 4) * (2 * 3 * 3), 4 * (2 * 8 * 64 + 4 * 2 * 2 * 9 + 2 * 8 * 16)}));
  EXPECT_EQ(WorkOfCall("Convolution3D", {Floats({2, 2, 5, 6, 7}), Floats({4, 2, 3, 3, 3})},
                       ConvolutionAttributes(1, 0, 1, "NCDHW")),
            (CallWork{2 * (2 * 4 * 3 * 4 * 5) * (2 * 27), 4 * (2 * 2 * 210 + 4 * 2 * 27 + 2 * 4 * 60)}));
}

// Each of the 6 x 6 positions meets the whole filter: 13 x 13 positions are written.
TEST(MegEngineCost, OfATransposedConvolution) {
  EXPECT_EQ(WorkOfCall("ConvolutionBackwardData", {Floats({8, 4, 3, 3}), Floats({2, 8, 6, 6})},
                       ConvolutionAttributes(2, 0, 1)),
            (CallWork{2 * (2 * 8 * 6 * 6) * (4 * 9), 4 * (8 * 4 * 9 + 2 * 8 * 36 + 2 * 4 * 169)}));
}

TEST(MegEngineCost, OfAConvolutionThatMakesNoSenseIsUnknown) {
  const auto x = Floats({2, 4, 16, 16}), w = Floats({8, 4, 3, 3}), y = Floats({2, 8, 8, 8});
  EXPECT_EQ(WorkOfCall("Convolution", {x, w}), kUnknownWork) << "no attributes";
  EXPECT_EQ(WorkOfCall("Convolution", {x, w}, ConvolutionAttributes(2, 1, 1, "NCHW4")), kUnknownWork);
  EXPECT_EQ(WorkOfCall("Convolution", {x, w}, ConvolutionAttributes(0, 1, 1)), kUnknownWork);
  EXPECT_EQ(WorkOfCall("Convolution", {x, w}, ConvolutionAttributes(1, 1, 2'000'000'000)), kUnknownWork);
  EXPECT_EQ(WorkOfCall("Convolution", {Floats({2, 4, 2, 2}), w}, ConvolutionAttributes(1, 0, 1)), kUnknownWork);
  EXPECT_EQ(WorkOfCall("Convolution", {Floats({}), Floats({})}, ConvolutionAttributes(1, 0, 1)), kUnknownWork);
  EXPECT_EQ(WorkOfCall("Convolution", {x}, ConvolutionAttributes(1, 0, 1)), kUnknownWork);
  // The channels are not where they should be, as in packed layouts.
  EXPECT_EQ(WorkOfCall("ConvolutionBackwardDataV2", {w, Floats({2, 8, 8, 9}), Floats({2, 16, 16, 4})}).flops,
            std::nullopt);
  EXPECT_EQ(WorkOfCall("ConvolutionBackwardFilterV2", {x, y, Floats({8, 4})}), kUnknownWork);
  const auto huge = Floats({INT64_MAX, 4, INT64_MAX, 3});
  EXPECT_EQ(WorkOfCall("ConvolutionBackwardFilterV2", {huge, huge, huge}), kUnknownWork);
}

TEST(MegEngineCost, OfProductsOfMatrices) {
  const auto attributes = [](int a, int b) {
    return R"("format": "DEFAULT", "transposeA": ")" + std::to_string(a) + R"(", "transposeB": ")" + std::to_string(b) +
           '"';
  };
  const auto a = Floats({3, 5}), b = Floats({5, 7});
  const CallWork plain = {2 * 3 * 5 * 7, 4 * (3 * 5 + 5 * 7 + 3 * 7)};
  EXPECT_EQ(WorkOfCall("MatrixMul", {a, b}, attributes(0, 0)), plain);
  EXPECT_EQ(WorkOfCall("MatrixMul", {Floats({5, 3}), Floats({7, 5})}, attributes(1, 1)), plain);
  EXPECT_EQ(WorkOfCall("MatrixMul", {T("Float16", {4, 3, 5}), T("Float16", {5, 7})}, attributes(0, 0)),
            (CallWork{2 * 4 * 3 * 5 * 7, 2 * (4 * 3 * 5 + 5 * 7 + 4 * 3 * 7)}));
  EXPECT_EQ(WorkOfCall("BatchedMatrixMul", {Floats({4, 1, 3, 5}), Floats({2, 7, 5})}, attributes(0, 1)),
            (CallWork{2 * 8 * 3 * 5 * 7, 4 * (4 * 15 + 2 * 35 + 8 * 21)}));
  EXPECT_EQ(WorkOfCall("Dot", {Floats({7}), Floats({7})}), (CallWork{14, 4 * (7 + 7 + 1)}));
  EXPECT_EQ(WorkOfCall("MatrixMul", {a, b}, attributes(1, 0)), kUnknownWork) << "3 is not 5";
  EXPECT_EQ(WorkOfCall("MatrixMul", {a, b}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("BatchedMatrixMul", {Floats({4, 3, 5}), Floats({2, 5, 7})}, attributes(0, 0)), kUnknownWork);
}

TEST(MegEngineCost, OfElementwiseModes) {
  const auto x = Floats({8, 4});
  EXPECT_EQ(WorkOfCall("RELU", {x}), (CallWork{32, 4 * (32 + 32)}));
  EXPECT_EQ(WorkOfCall("ADD", {x, Floats({1})}), (CallWork{32, 4 * (32 + 1 + 32)}));
  EXPECT_EQ(WorkOfCall("ADD", {Floats({8, 1}), Floats({4})}), (CallWork{32, 4 * (8 + 4 + 32)}));
  EXPECT_EQ(WorkOfCall("SIGMOID_GRAD", {x, x}), (CallWork{96, 4 * 96}));
  EXPECT_EQ(WorkOfCall("FUSE_MUL_ADD3", {x, x, x}), (CallWork{64, 4 * 128}));
  EXPECT_EQ(WorkOfCall("FUSE_MUL_ADD4", {x, x, x, x}), (CallWork{96, 4 * 160}));
  EXPECT_EQ(WorkOfCall("LT", {x, x}, R"("dtype": "Bool", "mode": "LT")"), (CallWork{32, 4 * 64 + 32}));
  EXPECT_EQ(WorkOfCall("ADD", {x, Floats({5})}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("InplaceAdd", {x, x, Floats({1}), Floats({1})}), (CallWork{96, 4 * (32 + 32 + 2 + 32)}));
  // Two elements lie in one byte.
  EXPECT_EQ(WorkOfCall("RELU", {T("IntB4", {8})}), (CallWork{8, std::nullopt}));
}

TEST(MegEngineCost, OfViewsAndCopies) {
  const auto x = Floats({8, 4});
  for (const char* view : {"Broadcast", "Subtensor", "Split", "Dimshuffle", "AddAxis", "RemoveAxis", "Identity"})
    EXPECT_EQ(WorkOfCall(view, {x}), (CallWork{0, 0})) << view;
  EXPECT_EQ(WorkOfCall("Reshape", {x}), (CallWork{0, std::nullopt})) << "a copy if x is not contiguous";
  EXPECT_EQ(WorkOfCall("TypeCvt", {x}, R"("dtype": "Float16")"), (CallWork{0, 4 * 32 + 2 * 32}));
  EXPECT_EQ(WorkOfCall("TypeCvtV2", {x}), (CallWork{0, std::nullopt}));
  EXPECT_EQ(WorkOfCall("Concat", {x, x}), (CallWork{0, 4 * (64 + 64)}));
  EXPECT_EQ(WorkOfCall("FillLike", {x}), (CallWork{0, 4 * 32}));
  EXPECT_EQ(WorkOfCall("IndexingOneHot", {x, T("Int32", {8})}), (CallWork{0, 4 * 8 + 2 * 4 * 8}));
  EXPECT_EQ(WorkOfCall("SetSubtensor", {x, Floats({2, 4}), T("Int32", {1})}), (CallWork{0, 4 * (32 + 8 + 1 + 32)}));
  EXPECT_EQ(WorkOfCall("IncrSubtensor", {x, Floats({2, 4})}), (CallWork{8, 4 * (32 + 8 + 32)}));
}

TEST(MegEngineCost, OfReductionsAndSorts) {
  const auto x = Floats({8, 4});
  const auto along = [](const char* axis) {
    return std::string(R"("axis": ")") + axis + R"(", "data_type": "DEFAULT", "mode": "SUM")";
  };
  EXPECT_EQ(WorkOfCall("Reduce", {x}, along("0")), (CallWork{32, 4 * (32 + 4)}));
  EXPECT_EQ(WorkOfCall("Reduce", {x}, along("-1")), (CallWork{32, 4 * (32 + 8)}));
  EXPECT_EQ(WorkOfCall("Reduce", {x}, along("2147483647")), (CallWork{32, 4 * (32 + 1)}));
  EXPECT_EQ(WorkOfCall("Reduce", {x}, along("2")), (CallWork{32, std::nullopt}));
  // The second tensor holds the shape of the result.
  EXPECT_EQ(WorkOfCall("Reduce", {x, T("Int32", {2})}, along("2147483647")), (CallWork{32, std::nullopt}));
  EXPECT_EQ(WorkOfCall("Argmax", {x}, R"("axis": "1")"), (CallWork{32, 4 * 32 + 4 * 8}));
  EXPECT_EQ(WorkOfCall("Argsort", {x}), (CallWork{32 * 2, 4 * (32 + 32 + 32)}));
  EXPECT_EQ(WorkOfCall("Argsort", {Floats({8, 5})}).flops, 40 * 3);
  EXPECT_EQ(WorkOfCall("TopK", {x}), (CallWork{32, std::nullopt}));
  EXPECT_EQ(WorkOfCall("Softmax", {x}), (CallWork{5 * 32, 4 * 64}));
  EXPECT_EQ(WorkOfCall("SoftmaxBackward", {x, x}), (CallWork{4 * 32, 4 * 96}));
}

TEST(MegEngineCost, OfPooling) {
  const auto attributes = [](const char* mode, int padding) {
    std::string text = R"("format": "NCHW", "mode": ")" + std::string(mode) + '"';
    for (const auto& [name, value] : {std::pair("window", 3), {"stride", 2}, {"pad", padding}}) {
      for (const char* dimension : {"_h", "_w"})
        text += std::string(", \"") + name + dimension + "\": \"" + std::to_string(value) + '"';
    }
    return text;
  };
  const auto x = Floats({2, 4, 13, 12});
  // Windows begin at -1, 1, ..., 11 and -1, 1, ..., 9: 7 x 6 of 9 elements.
  EXPECT_EQ(WorkOfCall("Pooling", {x}, attributes("MAX", 1)), (CallWork{8 * 42 * 9, 4 * (8 * 156 + 8 * 42)}));
  EXPECT_EQ(WorkOfCall("Pooling", {x}, attributes("AVERAGE", 1)), (CallWork{8 * 42 * 10, 4 * (8 * 156 + 8 * 42)}));
  EXPECT_EQ(WorkOfCall("Pooling", {x}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("Pooling", {Floats({2, 4, 2, 2})}, attributes("MAX", 0)), kUnknownWork);
  const auto y = Floats({2, 4, 7, 6});
  EXPECT_EQ(WorkOfCall("PoolingBackwardV1", {x, y, y}), (CallWork{std::nullopt, 4 * (8 * (156 + 42 + 42 + 156))}));
}

TEST(MegEngineCost, OfNormalizations) {
  const auto x = Floats({2, 4, 3, 5}), channels = Floats({1, 4, 1, 1});
  const int64_t n = 2 * 4 * 3 * 5;
  const std::vector<TestArgument> batch_norm = {x, channels, channels, channels, channels};
  // Weight and bias are read; two statistics per channel are written.
  EXPECT_EQ(WorkOfCall("BatchNorm", batch_norm, R"("fwd_mode": "TRAINING")"),
            (CallWork{7 * n, 4 * (n + 4 + 4 + n + 2 * 4)}));
  EXPECT_EQ(WorkOfCall("BatchNorm", batch_norm, R"("fwd_mode": "INFERENCE")").flops, 2 * n);
  EXPECT_EQ(WorkOfCall("BatchNorm", batch_norm).flops, std::nullopt);
  EXPECT_EQ(WorkOfCall("BatchNormBackward", {x, x, channels, channels, channels, T("Byte", {0})}),
            (CallWork{13 * n, 4 * (2 * n + 4 + 2 * 4 + n + 4 + 4)}));
  EXPECT_EQ(WorkOfCall("LayerNorm", {x, Floats({5}), Floats({5})}, R"("normalized_dim": "1")"),
            (CallWork{7 * n, 4 * (n + 5 + 5 + n + 2 * 24)}));
  EXPECT_EQ(WorkOfCall("LayerNorm", {x}, R"("normalized_dim": "2")"), (CallWork{5 * n, 4 * (n + n + 2 * 8)}));
  EXPECT_EQ(WorkOfCall("LayerNorm", {x}, R"("normalized_dim": "5")"), kUnknownWork);
  const std::string groups = R"("format": "NCHW", "group": "2")";
  EXPECT_EQ(WorkOfCall("GroupNorm", {x, Floats({4}), Floats({4})}, groups),
            (CallWork{7 * n, 4 * (n + 4 + 4 + n + 2 * 4)}));
  EXPECT_EQ(WorkOfCall("InstanceNorm", {x, Floats({4}), Floats({4})}, groups),
            (CallWork{7 * n, 4 * (n + 4 + 4 + n + 2 * 8)}));
  EXPECT_EQ(WorkOfCall("GroupNormBackward", {x, x, Floats({4}), Floats({2, 2}), Floats({2, 2})}),
            (CallWork{13 * n, 4 * (2 * n + 4 + 2 * 4 + n + 4 + 4)}));
  EXPECT_EQ(WorkOfCall("LayerNormBackward", {x, x, Floats({2, 4, 3}), Floats({2, 4, 3})}),
            (CallWork{9 * n, 4 * (2 * n + 2 * 24 + n)}));
}

// Names such as ADD are common words: they are MegEngine's only where tensors have types as MegEngine names them.
TEST(MegEngineCost, IsNotThatOfOperatorsOfOtherPrograms) {
  EXPECT_EQ(WorkOfCall("ADD", {T("float", {8}), T("float", {8})}), kUnknownWork);
  RooflineProgram both;
  both.Add("aten::exp", 0, 10, {T("float", {8})});
  both.Add("EXP", 10, 30, {Floats({8})});
  const RooflineReport report = MeasureRoofline(both.Build());
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].flops, 8);
  EXPECT_EQ(report.rows[1].flops, 8);
}

// Equal shapes, other strides: one row with the costs of both.
TEST(MegEngineCost, FollowsTheAttributesOfEachCall) {
  RooflineProgram program;
  const auto x = Floats({1, 1, 8, 8}), w = Floats({1, 1, 1, 1});
  program.Add("Convolution", 0, 10, {x, w}, 0, "cpu_op", ConvolutionAttributes(1, 0, 1));
  program.Add("Convolution", 10, 30, {x, w}, 0, "cpu_op", ConvolutionAttributes(2, 0, 1));
  program.Add("Convolution", 30, 40, {x, w}, 0, "cpu_op", ConvolutionAttributes(1, 0, 1));
  const RooflineReport report = MeasureRoofline(program.Build(), {.peak_flops = 1e9, .peak_bandwidth = 1e12});
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].calls, 3u);
  EXPECT_EQ(report.rows[0].flops, 2 * (64 + 16 + 64));
  EXPECT_EQ(report.rows[0].bytes, 4 * (3 * 65 + 64 + 16 + 64));
}

TEST(MegEngineCost, IsComparedWithThePeakOfItsType) {
  const auto peak = [](const char* dtype) {
    RooflineProgram program;
    program.builder().AddMetadata("deviceProperties", R"([{"id": 0, "name": "NVIDIA H200"}])");
    program.Add("EXP", 0, 10, {T(dtype, {8})});
    return MeasureRoofline(program.Build()).rows.at(0).peak_flops;
  };
  EXPECT_EQ(peak("Float32"), 67e12);
  EXPECT_EQ(peak("Float16"), 989.5e12);
  EXPECT_EQ(peak("BFloat16"), 989.5e12);
  EXPECT_EQ(peak("Int8"), std::nullopt);
}

}  // namespace
}  // namespace opscope
