// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/flops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "opscope/analysis/op_summary.h"
#include "opscope/import.h"

namespace opscope {
namespace {

// One call as Kineto writes it. dims: "[2,8],[8,4]"; values: the concrete inputs, "\"\"" for tensors.
struct Call {
  std::string name;
  std::string dims;
  std::string values;
  int start = 0;
  int duration = 10;
};

Trace TraceOf(const std::vector<Call>& calls) {
  std::string json = "{\"traceEvents\": [";
  for (const Call& call : calls) {
    json += (json.back() == '[' ? "" : ",") + std::string(R"({"ph":"X","cat":"cpu_op","pid":1,"tid":1,"name":")") +
            call.name + R"(","ts":)" + std::to_string(call.start) + R"(,"dur":)" + std::to_string(call.duration) +
            R"(,"args":{"Input Dims":[)" + call.dims + R"(],"Concrete Inputs":[)" + call.values + R"(],"Input type":[)";
    const auto arguments = std::count(call.values.begin(), call.values.end(), '"') / 2;
    for (long i = 0; i < arguments; ++i)
      json += i == 0 ? "\"float\"" : ",\"float\"";
    json += "]}}";
  }
  json += "]}";
  Result<Trace> trace = ImportBytes(std::as_bytes(std::span(json)), "calls.json");
  EXPECT_TRUE(trace.ok()) << trace.error().message << json;
  return trace.ok() ? std::move(trace).value() : Trace();
}

int64_t FlopsOf(const std::string& name, const std::string& dims, const std::string& values) {
  const std::vector<int64_t> flops = FlopsOfSpans(TraceOf({{name, dims, values}}));
  return flops.empty() ? 0 : flops.front();
}

// The right sides are counted by hand: two for each multiplication with its addition.
TEST(Flops, CountProductsOfMatrices) {
  EXPECT_EQ(FlopsOf("aten::mm", "[3,5],[5,7]", R"("","")"), 2 * 3 * 5 * 7);
  EXPECT_EQ(FlopsOf("aten::addmm", "[7],[3,5],[5,7]", R"("","","")"), 2 * 3 * 5 * 7);
  EXPECT_EQ(FlopsOf("aten::bmm", "[2,3,5],[2,5,7]", R"("","")"), 2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(FlopsOf("aten::baddbmm", "[2,3,7],[2,3,5],[2,5,7]", R"("","","")"), 2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(FlopsOf("aten::addbmm", "[3,7],[2,3,5],[2,5,7]", R"("","","")"), 2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(FlopsOf("aten::linear", "[4,3,5],[7,5],[7]", R"("","","")"), 2 * 4 * 3 * 5 * 7);
  EXPECT_EQ(FlopsOf("aten::mv", "[3,5],[5]", R"("","")"), 2 * 3 * 5);
  EXPECT_EQ(FlopsOf("aten::dot", "[5],[5]", R"("","")"), 2 * 5);
}

TEST(Flops, CountConvolutions) {
  // 8 x 9 pictures, 3 x 3 window, padding 1, stride 2: 4 x 5 positions; 4 channels to 6 in 2 groups.
  const std::string sizes = "[2,4,8,9],[6,2,3,3],[6],[],[],[],[]";
  EXPECT_EQ(FlopsOf("aten::conv2d", sizes, R"("","","","[2, 2]","[1, 1]","[1, 1]","2")"),
            2 * 2 * (4 * 5) * (3 * 3) * (4 / 2) * 6);
  // Dilation 2 makes the window 5 wide: 2 x 3 positions without padding at stride 2.
  EXPECT_EQ(FlopsOf("aten::conv2d", sizes, R"("","","","[2, 2]","[0, 0]","[2, 2]","2")"),
            2 * 2 * (2 * 3) * (3 * 3) * (4 / 2) * 6);
  // One number stands for every dimension. Length 10, window 4, stride 3: 3 positions.
  EXPECT_EQ(FlopsOf("aten::conv1d", "[2,4,10],[6,4,4],[6],[],[],[],[]", R"("","","","[3]","[0]","[1]","1")"),
            2 * 2 * 3 * 4 * 4 * 6);
  EXPECT_EQ(FlopsOf("aten::conv3d", "[1,2,4,4,4],[3,2,3,3,3],[],[],[],[],[]",
                    R"("","","","[1, 1, 1]","[0, 0, 0]","[1, 1, 1]","1")"),
            2 * 1 * (2 * 2 * 2) * 2 * 27 * 3);
  // A transposed one spreads every input position: 5 x 5 of them.
  EXPECT_EQ(FlopsOf("aten::conv_transpose2d", "[2,4,5,5],[4,6,3,3],[6],[],[],[],[],[]",
                    R"("","","","[2, 2]","[0, 0]","[0, 0]","1","[1, 1]")"),
            2 * 2 * (5 * 5) * 4 * 6 * 9);
  EXPECT_EQ(FlopsOf("aten::convolution", "[2,4,5,5],[4,6,3,3],[6],[],[],[],[],[],[]",
                    R"("","","","[2, 2]","[0, 0]","[1, 1]","True","[0, 0]","1")"),
            2 * 2 * (5 * 5) * 4 * 6 * 9);
}

TEST(Flops, OfAConvolutionOfAnySizeWrapAsInTorch) {
  // 2 * 2^63 positions.
  EXPECT_EQ(FlopsOf("aten::conv1d", "[1,1,9223372036854775806],[1,1,1],[],[],[],[]", R"("","","","[1]","[1]","[1]")"),
            0);
}

TEST(Flops, AreNeverNegative) {
  EXPECT_EQ(FlopsOf("aten::mm", "[2000000,2000000],[2000000,1000000]", R"("","")"), 8'000'000'000'000'000'000);
  EXPECT_EQ(FlopsOf("aten::mm", "[2000000,2000000],[2000000,2000000]", R"("","")"), INT64_MAX);
}

TEST(Flops, CountEachGradientOfAConvolutionThatIsAskedFor) {
  const std::string sizes = "[2,6,4,5],[2,4,8,9],[6,2,3,3],[],[],[],[],[],[],[],[]";
  const auto values = [](const std::string& mask) {
    return R"("","","","[6]","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","2",")" + mask + "\"";
  };
  const int64_t once = 2 * 2 * (4 * 5) * (3 * 3) * 2 * 6;
  EXPECT_EQ(FlopsOf("aten::convolution_backward", sizes, values("[True, True, True]")), 2 * once);
  EXPECT_EQ(FlopsOf("aten::convolution_backward", sizes, values("[False, True, True]")), once);
  EXPECT_EQ(FlopsOf("aten::convolution_backward", sizes, values("[False, False, True]")), 0);
}

TEST(Flops, CountAttention) {
  // 2 x 3 heads, 5 query rows, 7 key rows, 4 features, 6 features of the values.
  const std::string sizes = "[2,3,5,4],[2,3,7,4],[2,3,7,6]";
  const int64_t pairs = 2 * 3 * 5 * 7;
  EXPECT_EQ(FlopsOf("aten::scaled_dot_product_attention", sizes, R"("","","")"), 2 * pairs * (4 + 6));
  EXPECT_EQ(
      FlopsOf("aten::_scaled_dot_product_flash_attention_for_cpu_backward", "[2,3,5,6]," + sizes, R"("","","","")"),
      2 * pairs * (3 * 4 + 2 * 6));
}

TEST(Flops, CountWhatEmbeddingsAdd) {
  EXPECT_EQ(FlopsOf("aten::embedding", "[100,8],[2,5]", R"("","")"), 0);
  EXPECT_EQ(FlopsOf("aten::embedding_dense_backward", "[2,5,8],[2,5]", R"("","")"), 2 * 5 * 8);
  EXPECT_EQ(FlopsOf("aten::_embedding_bag", "[100,8],[10],[4]", R"("","","")"), 10 * 8);
}

TEST(Flops, AreZeroWhereAnArgumentIsNotAsNeeded) {
  EXPECT_EQ(FlopsOf("aten::mm", "[3,5]", R"("")"), 0);
  EXPECT_EQ(FlopsOf("aten::mm", "[],[]", R"("","")"), 0);
  EXPECT_EQ(FlopsOf("aten::linear", "[3,5],[5]", R"("","")"), 0);
  EXPECT_EQ(
      FlopsOf("aten::conv2d", "[2,4,8,9],[6,2,3,3],[6],[],[],[],[]", R"("","","","[2, 2]","[1, 1]","[1, 1]","0")"), 0);
  EXPECT_EQ(FlopsOf("aten::conv1d", "[2,4,10],[6,4,4],[6],[],[],[],[]", R"("","","","[0]","[0]","[1]","1")"), 0);
  EXPECT_EQ(FlopsOf("aten::convolution", "[2,4,5,5],[4,6,3,3]", R"("","")"), 0);
  EXPECT_EQ(FlopsOf("aten::relu", "[3,5]", R"("")"), 0);
}

// linear { t, addmm } and attention { bmm } leave the number to what torch counts; conv1d counts and
// not the convolution inside it; a linear that is one kernel counts.
TEST(Flops, RemoveDoubleCounts) {
  const Trace trace = TraceOf({
      {"aten::linear", "[3,5],[7,5],[7]", R"("","","")", 0, 100},
      {"aten::addmm", "[7],[3,5],[5,7]", R"("","","")", 10, 50},
      {"aten::conv1d", "[2,4,10],[6,4,4],[6],[],[],[],[]", R"("","","","[3]","[0]","[1]","1")", 200, 100},
      {"aten::convolution", "[2,4,10],[6,4,4],[6],[],[],[],[],[],[]", R"("","","","[3]","[0]","[1]","False","[0]","1")",
       210, 50},
      {"aten::add", "[6],[6]", R"("","")", 220, 10},
      {"aten::linear", "[3,5],[7,5],[7]", R"("","","")", 400, 100},
  });
  const int64_t linear = 2 * 3 * 5 * 7;
  const int64_t convolution = 2 * 2 * 3 * 4 * 4 * 6;
  EXPECT_EQ(FlopsOfSpans(trace), (std::vector<int64_t>{0, linear, convolution, 0, 6, linear}));
  EXPECT_EQ(FlopsOfSpans(trace, FlopRuleSet::kOnlyTorch), (std::vector<int64_t>{0, linear, 0, 0, 6, 0}));
}

TEST(Flops, BecomeARateOfTheTimeOfTheCalls) {
  const Trace trace = TraceOf({{"aten::mm", "[3,5],[5,7]", R"("","")", 0, 10}, {"aten::relu", "[3]", R"("")", 20, 5}});
  const OpSummary summary = SummarizeOps(trace);
  ASSERT_EQ(summary.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(summary.rows[0].flops_per_s(), 210 / 10e-6);
  EXPECT_EQ(summary.rows[1].flops_per_s(), 0);
}

}  // namespace
}  // namespace opscope
