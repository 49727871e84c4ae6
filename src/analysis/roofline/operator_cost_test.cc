// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/operator_cost.h"

#include <gtest/gtest.h>

#include <optional>

#include "analysis/roofline/roofline_program_for_test.h"

namespace opscope {
namespace {

// Right sides are counted by hand; 4, 2, 8 and 1 are bytes per element of float, Half, int64 and bool.
TEST(RooflineCost, CountsProducts) {
  const CallWork mm = {2 * 3 * 5 * 7, 4 * (3 * 5 + 5 * 7 + 3 * 7)};
  EXPECT_EQ(WorkOfCall("aten::mm", {T("float", {3, 5}), T("float", {5, 7})}), mm);
  EXPECT_EQ(WorkOfCall("aten::addmm", {T("float", {7}), T("float", {3, 5}), T("float", {5, 7}), S("1"), S("1")}),
            (CallWork{2 * 3 * 5 * 7, 4 * (7 + 3 * 5 + 5 * 7 + 3 * 7)}));
  EXPECT_EQ(WorkOfCall("aten::bmm", {T("c10::Half", {2, 3, 5}), T("c10::Half", {2, 5, 7})}),
            (CallWork{2 * 2 * 3 * 5 * 7, 2 * 2 * (3 * 5 + 5 * 7 + 3 * 7)}));
  EXPECT_EQ(WorkOfCall("aten::linear", {T("float", {4, 3, 5}), T("float", {7, 5}), T("float", {7})}),
            (CallWork{2 * 12 * 5 * 7, 4 * (12 * 5 + 7 * 5 + 7 + 12 * 7)}));
  EXPECT_EQ(WorkOfCall("aten::mv", {T("float", {3, 5}), T("float", {5})}), (CallWork{2 * 15, 4 * (15 + 5 + 3)}));
  EXPECT_EQ(WorkOfCall("aten::dot", {T("float", {5}), T("float", {5})}), (CallWork{2 * 5, 4 * (5 + 5 + 1)}));
  // A result that the caller provides is no operand.
  EXPECT_EQ(WorkOfCall("aten::mm", {T("float", {3, 5}), T("float", {5, 7}), T("float", {3, 7})}), mm);
}

TEST(RooflineCost, CountsConvolutionsAndTheirGradients) {
  // 4 x 5 positions; 4 channels to 6 in 2 groups.
  const int64_t forward = 2 * 2 * (4 * 5) * (3 * 3) * (4 / 2) * 6;
  const int64_t input = 2 * 4 * 8 * 9, weight = 6 * 2 * 3 * 3, output = 2 * 6 * 4 * 5;
  const auto in = T("float", {2, 4, 8, 9}), w = T("float", {6, 2, 3, 3}), out = T("float", {2, 6, 4, 5});
  EXPECT_EQ(WorkOfCall("aten::conv2d", {in, w, T("float", {6}), L("[2, 2]"), L("[1, 1]"), L("[1, 1]"), S("2")}),
            (CallWork{forward, 4 * (input + weight + 6 + output)}));
  EXPECT_EQ(WorkOfCall("aten::convolution",
                       {in, w, None(), L("[2, 2]"), L("[1, 1]"), L("[1, 1]"), S("False"), L("[0, 0]"), S("2")}),
            (CallWork{forward, 4 * (input + weight + output)}));
  const auto backward = [&](const char* mask) {
    return WorkOfCall("aten::convolution_backward", {out, in, w, L("[6]"), L("[2, 2]"), L("[1, 1]"), L("[1, 1]"),
                                                     S("False"), L("[0, 0]"), S("2"), L(mask)});
  };
  EXPECT_EQ(backward("[True, True, True]"),
            (CallWork{2 * forward, 4 * (output + weight + input + input + weight + 6)}));
  EXPECT_EQ(backward("[False, True, False]"), (CallWork{forward, 4 * (output + input + weight)}));
  // The size of a transposed one's result is not among the formulas.
  EXPECT_EQ(WorkOfCall("aten::convolution", {T("float", {2, 4, 5, 5}), T("float", {4, 6, 3, 3}), None(), L("[2, 2]"),
                                             L("[0, 0]"), L("[1, 1]"), S("True"), L("[0, 0]"), S("1")}),
            (CallWork{2 * 2 * 25 * 4 * 6 * 9, std::nullopt}));
}

TEST(RooflineCost, CountsAttentionAsOneKernel) {
  const auto q = T("float", {2, 3, 5, 4}), k = T("float", {2, 3, 7, 4}), v = T("float", {2, 3, 7, 6});
  const int64_t pairs = 2 * 3 * 5 * 7, q_size = 6 * 5 * 4, k_size = 6 * 7 * 4, v_size = 6 * 7 * 6, o_size = 6 * 5 * 6;
  EXPECT_EQ(WorkOfCall("aten::_scaled_dot_product_flash_attention", {q, k, v, S("0."), S("False")}),
            (CallWork{2 * pairs * (4 + 6), 4 * (q_size + k_size + v_size + o_size)}));
  EXPECT_EQ(WorkOfCall("aten::scaled_dot_product_attention", {q, k, v, T("float", {5, 7})}),
            (CallWork{2 * pairs * (4 + 6), 4 * (q_size + k_size + v_size + 5 * 7 + o_size)}));
  const auto o = T("float", {2, 3, 5, 6}), statistics = T("float", {2, 3, 5});
  EXPECT_EQ(WorkOfCall("aten::_scaled_dot_product_flash_attention_backward", {o, q, k, v, o, statistics}),
            (CallWork{2 * pairs * (3 * 4 + 2 * 6), 4 * (2 * o_size + 2 * (q_size + k_size + v_size) + 6 * 5)}));
}

TEST(RooflineCost, CountsElementwiseOperators) {
  EXPECT_EQ(WorkOfCall("aten::add", {T("float", {8, 1}), T("float", {8, 4}), S("1")}),
            (CallWork{32, 4 * (8 + 32 + 32)}));
  EXPECT_EQ(WorkOfCall("aten::add_", {T("float", {8, 4}), T("float", {4}), S("1")}), (CallWork{32, 4 * (32 + 4 + 32)}));
  EXPECT_EQ(WorkOfCall("aten::gelu", {T("c10::BFloat16", {8, 4}), S("none")}), (CallWork{32, 2 * 64}));
  EXPECT_EQ(WorkOfCall("aten::mul", {T("float", {8, 4}), T("double", {})}), (CallWork{32, 4 * 64 + 8}));
  EXPECT_EQ(WorkOfCall("aten::mul", {T("float", {8, 4}), T("double", {4})}), (CallWork{32, 4 * 32 + 8 * 4 + 8 * 32}));
  EXPECT_EQ(WorkOfCall("aten::gt", {T("float", {8, 4}), S("0")}), (CallWork{32, 4 * 32 + 32}));
  EXPECT_EQ(WorkOfCall("aten::addcmul_", {T("float", {8}), T("float", {8}), T("float", {8}), S("0.1")}),
            (CallWork{3 * 8, 4 * 4 * 8}));
  EXPECT_EQ(WorkOfCall("aten::threshold_backward", {T("float", {8}), T("float", {8}), S("0")}),
            (CallWork{8, 4 * 3 * 8}));
  // An expanded dimension repeats what lies in memory once.
  EXPECT_EQ(WorkOfCall("aten::exp", {T("float", {8, 4}, {1, 0})}), (CallWork{32, 4 * (8 + 32)}));
  // Integers become the default type, which only the program knows.
  EXPECT_EQ(WorkOfCall("aten::div", {T("long int", {8}), S("2")}), (CallWork{8, std::nullopt}));
  EXPECT_EQ(WorkOfCall("aten::mul", {T("long int", {8}), S("0.5")}), (CallWork{8, std::nullopt}));
}

TEST(RooflineCost, CountsMoves) {
  EXPECT_EQ(WorkOfCall("aten::copy_", {T("float", {8, 4}), T("c10::Half", {8, 4}), S("False")}),
            (CallWork{0, (4 + 2) * 32}));
  EXPECT_EQ(WorkOfCall("aten::fill_", {T("float", {8}), S("0")}), (CallWork{0, 32}));
  EXPECT_EQ(WorkOfCall("aten::cat", {Tensors({T("float", {2, 3}), T("float", {4, 3})}), S("0")}),
            (CallWork{0, 2 * 4 * 18}));
  EXPECT_EQ(WorkOfCall("aten::where", {T("bool", {8, 1}), T("float", {}), T("float", {8, 4})}),
            (CallWork{0, 8 + 4 + 4 * 32 + 4 * 32}));
  EXPECT_EQ(WorkOfCall("aten::index_select", {T("float", {100, 6}), S("0"), T("long int", {5})}),
            (CallWork{0, 2 * 4 * 30 + 8 * 5}));
  EXPECT_EQ(WorkOfCall("aten::embedding", {T("float", {100, 6}), T("long int", {2, 5}), S("-1")}),
            (CallWork{0, 2 * 4 * 60 + 8 * 10}));
  EXPECT_EQ(WorkOfCall("aten::embedding_dense_backward", {T("float", {2, 5, 6}), T("long int", {2, 5}), S("100")}),
            (CallWork{60, 3 * 4 * 60 + 8 * 10}));
}

TEST(RooflineCost, CountsReductions) {
  EXPECT_EQ(WorkOfCall("aten::sum", {T("float", {8, 4}), L("[0]"), S("True"), None()}), (CallWork{32, 4 * (32 + 4)}));
  EXPECT_EQ(WorkOfCall("aten::sum", {T("float", {8, 4}), None()}), (CallWork{32, 4 * (32 + 1)}));
  EXPECT_EQ(WorkOfCall("aten::sum", {T("float", {8, 4}), L("[-1]"), S("False"), S("7")}),
            (CallWork{32, 4 * 32 + 8 * 8}));
  EXPECT_EQ(WorkOfCall("aten::sum", {T("bool", {8, 4}), None()}), (CallWork{32, 32 + 8}));
  EXPECT_EQ(WorkOfCall("aten::all", {T("bool", {8, 4}), S("-1"), S("True")}), (CallWork{32, 32 + 8}));
  EXPECT_EQ(WorkOfCall("aten::argmax", {T("float", {8, 4}), S("1"), S("False")}), (CallWork{32, 4 * 32 + 8 * 8}));
  EXPECT_EQ(WorkOfCall("aten::_softmax", {T("float", {8, 4}), S("-1"), S("False")}), (CallWork{5 * 32, 4 * 64}));
  EXPECT_EQ(WorkOfCall("aten::_softmax_backward_data", {T("float", {8, 4}), T("float", {8, 4}), S("-1"), S("6")}),
            (CallWork{4 * 32, 4 * 96}));
  EXPECT_EQ(WorkOfCall("aten::nll_loss_forward", {T("float", {8, 4}), T("long int", {8}), None(), S("1"), S("-100")}),
            (CallWork{8, 8 * 8 + 4 * (8 + 2)}));
}

TEST(RooflineCost, CountsNormalizations) {
  const auto x = T("float", {2, 3, 4}), w = T("float", {4});
  EXPECT_EQ(WorkOfCall("aten::native_layer_norm", {x, L("[4]"), w, w, S("1e-05")}),
            (CallWork{7 * 24, 4 * (24 + 4 + 4 + 24 + 2 * 6)}));
  const auto row = T("float", {2, 3, 1});
  EXPECT_EQ(WorkOfCall("aten::native_layer_norm_backward", {x, x, L("[4]"), row, row, w, w, L("[True, True, True]")}),
            (CallWork{13 * 24, 4 * (24 + 24 + 4 + 12 + 24 + 4 + 4)}));
  const auto image = T("float", {2, 3, 4, 4}), channel = T("float", {3});
  EXPECT_EQ(WorkOfCall("aten::native_batch_norm",
                       {image, channel, channel, channel, channel, S("True"), S("0.1"), S("1e-05")}),
            (CallWork{7 * 96, 4 * (96 + 3 + 3 + 96 + 2 * 3)}));
  const CallWork backward{13 * 96, 4 * (96 + 96 + 3 + 2 * 3 + 96 + 3 + 3)};
  const auto none = T("unsigned char", {0});
  EXPECT_EQ(WorkOfCall("aten::cudnn_batch_norm_backward",
                       {image, image, channel, channel, channel, channel, channel, S("1e-05"), none}),
            backward);
  EXPECT_EQ(WorkOfCall("aten::native_batch_norm_backward", {image, image, channel, channel, channel, channel, channel,
                                                            S("True"), S("1e-05"), L("[True, True, True]")}),
            backward);
}

TEST(RooflineCost, IsUnknownWhereArgumentsAreMissingOrSenseless) {
  EXPECT_EQ(WorkOfCall("aten::mm", {}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("aten::add", {}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("aten::mm", {T("float", {3, 5})}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("aten::median", {T("float", {3, 5}), S("2")}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("aten::add", {T("float", {8, 3}), T("float", {8, 4}), S("1")}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("aten::add", {T("float", {-1, 3}), T("float", {8, 3}), S("1")}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("aten::exp", {T("strange", {8})}), (CallWork{8, std::nullopt}));
  EXPECT_EQ(WorkOfCall("aten::sum", {T("float", {8, 4}), L("[9]"), S("True"), None()}), (CallWork{32, std::nullopt}));
}

// Windows of 3 x 2 in planes of 6 x 7, stride 2 x 2, padding 1 x 0: (8 - 3) / 2 + 1 = 3 by (7 - 2) / 2 + 1 = 3, rounded
// up 4 by 4.
TEST(RooflineCost, CountsPooling) {
  const auto in = T("float", {2, 3, 6, 7});
  const int64_t input = 2 * 3 * 6 * 7;
  const auto max_pool = [&](const char* ceil_mode) {
    return WorkOfCall("aten::max_pool2d_with_indices",
                      {in, L("[3, 2]"), L("[2, 2]"), L("[1, 0]"), L("[1, 1]"), S(ceil_mode)});
  };
  EXPECT_EQ(max_pool("False"), (CallWork{6 * 3 * 3 * 6, 4 * input + 6 * 3 * 3 * (4 + 8)}));
  EXPECT_EQ(max_pool("True"), (CallWork{6 * 4 * 4 * 6, 4 * input + 6 * 4 * 4 * (4 + 8)}));
  // Without a stride it is the size of the window. A last window that begins behind the padded input does not count.
  EXPECT_EQ(WorkOfCall("aten::max_pool2d_with_indices",
                       {T("float", {1, 3, 3}), L("[2]"), L("[]"), L("[1]"), L("[1]"), S("True")}),
            (CallWork{2 * 2 * 4, 4 * 9 + 4 * 12}));
  EXPECT_EQ(WorkOfCall("aten::max_pool2d_with_indices_backward",
                       {T("float", {2, 3, 3, 3}), in, L("[3, 2]"), L("[2, 2]"), L("[1, 0]"), L("[1, 1]"), S("False"),
                        T("long int", {2, 3, 3, 3})}),
            (CallWork{54, 4 * 54 + 8 * 54 + 4 * input}));
  EXPECT_EQ(WorkOfCall("aten::avg_pool2d", {in, L("[3, 2]"), L("[2, 2]"), L("[1, 0]"), S("False"), S("True"), None()}),
            (CallWork{6 * 3 * 3 * (6 + 1), 4 * (input + 54)}));
  EXPECT_EQ(WorkOfCall("aten::avg_pool2d_backward",
                       {T("float", {2, 3, 3, 3}), in, L("[3, 2]"), L("[2, 2]"), L("[1, 0]"), S("False"), S("True")}),
            (CallWork{54 * 7, 4 * (54 + input)}));
  EXPECT_EQ(WorkOfCall("aten::max_pool2d_with_indices", {in}), (CallWork{std::nullopt, std::nullopt}))
      << "no window recorded";
}

// 7 elements in 3 windows: [0, 3), [2, 5), [4, 7), 9 in all.
TEST(RooflineCost, CountsAdaptivePooling) {
  const auto in = T("float", {2, 6, 7});
  EXPECT_EQ(WorkOfCall("aten::_adaptive_avg_pool2d", {in, L("[2, 3]")}),
            (CallWork{2 * 6 * 9 + 2 * 2 * 3, 4 * (2 * 6 * 7 + 2 * 2 * 3)}));
  EXPECT_EQ(WorkOfCall("aten::_adaptive_avg_pool2d_backward", {T("float", {2, 2, 3}), in}),
            (CallWork{2 * 6 * 9 + 2 * 2 * 3, 4 * (2 * 2 * 3 + 2 * 6 * 7)}));
  EXPECT_EQ(WorkOfCall("aten::adaptive_max_pool2d", {in, L("[2, 3]")}),
            (CallWork{2 * 6 * 9, 4 * 2 * 6 * 7 + 2 * 2 * 3 * (4 + 8)}));
  // More windows than elements: 100000 of 6 elements have 6 + 100000 - 2 in all.
  EXPECT_EQ(WorkOfCall("aten::_adaptive_avg_pool2d", {in, L("[100000, 3]")}),
            (CallWork{2 * 100004 * 9 + 2 * 100000 * 3, 4 * (2 * 6 * 7 + 2 * 100000 * 3)}));
}

TEST(RooflineCost, CountsSortingAndScattering) {
  const auto in = T("float", {3, 5});
  // 5 elements need 3 levels of merging.
  EXPECT_EQ(WorkOfCall("aten::sort", {in, S("-1"), S("False")}), (CallWork{15 * 3, 4 * 15 + 15 * 12}));
  EXPECT_EQ(WorkOfCall("aten::sort", {in, None(), S("0"), S("False")}), (CallWork{15 * 2, 4 * 15 + 15 * 12}));
  EXPECT_EQ(WorkOfCall("aten::sort", {in}), (CallWork{std::nullopt, 4 * 15 + 15 * 12}));
  EXPECT_EQ(WorkOfCall("aten::topk", {in, S("2"), S("-1"), S("True"), S("True")}), (CallWork{15, 4 * 15 + 6 * 12}));
  const auto index = T("long int", {2, 3});
  EXPECT_EQ(WorkOfCall("aten::scatter_add_", {in, S("1"), index, T("float", {2, 3})}),
            (CallWork{6, 6 * (8 + 4 + 4 + 4)}));
  EXPECT_EQ(WorkOfCall("aten::scatter_", {in, S("1"), index, S("1.")}), (CallWork{0, 6 * (8 + 4)}));
  EXPECT_EQ(WorkOfCall("aten::scatter", {in, S("1"), index, T("float", {2, 3})}),
            (CallWork{0, 6 * (8 + 4 + 4) + 2 * 4 * 15}));
  EXPECT_EQ(WorkOfCall("aten::index_add_", {in, S("0"), T("long int", {2}), T("float", {2, 5}), S("1")}),
            (CallWork{10, 2 * 8 + 4 * 10 + 2 * 4 * 10}));
  EXPECT_EQ(WorkOfCall("aten::index_copy_", {in, S("0"), T("long int", {2}), T("float", {2, 5})}),
            (CallWork{0, 2 * 8 + 4 * 10 + 4 * 10}));
  EXPECT_EQ(WorkOfCall("aten::index", {in, Tensors({T("long int", {2})})}), kUnknownWork);
}

TEST(RooflineCost, CountsOperatorsOnLists) {
  const auto list = Tensors({T("float", {4}), T("float", {2, 3})});
  EXPECT_EQ(WorkOfCall("aten::_foreach_add_", {list, list, S("1")}), (CallWork{10, 4 * 3 * 10}));
  EXPECT_EQ(WorkOfCall("aten::_foreach_mul_", {list, S("0.9")}), (CallWork{10, 4 * 2 * 10}));
  EXPECT_EQ(WorkOfCall("aten::_foreach_sqrt", {list}), (CallWork{10, 4 * 2 * 10}));
  EXPECT_EQ(WorkOfCall("aten::_foreach_addcdiv_", {list, list, list, S("1")}), (CallWork{30, 4 * 4 * 10}));
  EXPECT_EQ(WorkOfCall("aten::_foreach_zero_", {list}), (CallWork{0, 4 * 10}));
  EXPECT_EQ(WorkOfCall("aten::_foreach_copy_", {list, list, S("False")}), (CallWork{0, 4 * 2 * 10}));
  EXPECT_EQ(WorkOfCall("aten::_foreach_norm", {list, S("2")}), (CallWork{10, 4 * 10 + 4 * 2}));
  EXPECT_EQ(WorkOfCall("aten::_foreach_add_", {list, Tensors({T("float", {4})}), S("1")}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("aten::_foreach_add_", {}), kUnknownWork);
}

TEST(RooflineCost, IsUnknownRatherThanWrongWhereSizesOverflow) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  EXPECT_EQ(WorkOfCall("aten::mm", {T("float", {kHuge, kHuge}), T("float", {kHuge, kHuge})}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("aten::exp", {T("float", {kHuge, kHuge})}), kUnknownWork);
  EXPECT_EQ(WorkOfCall("aten::conv1d", {T("float", {2, 4, 10}), T("float", {6, 4, 4}), None(), L("[1]"),
                                        L("[4611686018427387904]"), L("[1]"), S("1")}),
            kUnknownWork);
  EXPECT_EQ(WorkOfCall("aten::_scaled_dot_product_flash_attention",
                       {T("float", {kHuge, 3, kHuge, 4}), T("float", {2, 3, kHuge, 4}), T("float", {2, 3, 7, 6})}),
            kUnknownWork);
}

TEST(RooflineCost, IsZeroWhereThereIsNothingToCompute) {
  EXPECT_EQ(WorkOfCall("aten::mm", {T("float", {0, 5}), T("float", {5, 7})}), (CallWork{0, 4 * 35}));
  EXPECT_EQ(WorkOfCall("aten::add", {T("float", {0, 4}), T("float", {4}), S("1")}), (CallWork{0, 4 * 4}));
  EXPECT_EQ(WorkOfCall("aten::view", {T("float", {3, 5}), L("[15]")}), (CallWork{0, 0}));
  EXPECT_EQ(WorkOfCall("AddmmBackward0", {}), (CallWork{0, 0}));
  EXPECT_EQ(WorkOfCall("MyFunctionBackward", {}), kUnknownWork);
}

}  // namespace
}  // namespace opscope
