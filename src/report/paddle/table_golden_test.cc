// Paddle's own protobuf, imported here, gives Paddle's summary: every character. The cases are made by
// tests/golden/paddle_summary/make.py with the real paddle.profiler.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdint>
#include <filesystem>

#include "opscope/import.h"
#include "opscope/paddle/layers.h"
#include "opscope/paddle/table.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

class PaddleSummaryGolden : public testing::TestWithParam<std::string> {};

TEST_P(PaddleSummaryGolden, EqualsTheOriginalsText) {
  const fs::path folder = fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden/paddle_summary" / GetParam();
  Result<Trace> trace = ImportFile((folder / "input.pb").string());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const PaddleStatistics statistics = ComputePaddleStatistics(trace.value(), BuildPaddleNodeTrees(trace.value()));
  simdjson::dom::parser parser;
  size_t count = 0;
  for (const simdjson::dom::element each : parser.load((folder / "texts.json").string()).get_array()) {
    PaddleTableOptions options;
    options.sorted_by = static_cast<PaddleSort>(uint64_t(each["sorted_by"]));
    options.op_detail = each["op_detail"];
    options.thread_sep = each["thread_sep"];
    options.time_unit = std::string(std::string_view(each["time_unit"]));
    if (!each["views"].is_null()) options.views = 0;
    if (!each["views"].is_null()) {
      for (const uint64_t view : each["views"].get_array())
        options.views |= 1u << view;
    }
    EXPECT_EQ(FormatPaddleSummary(trace.value(), statistics, options), std::string_view(each["text"]));
    ++count;
  }
  EXPECT_EQ(count, 4u);
}

INSTANTIATE_TEST_SUITE_P(Cases, PaddleSummaryGolden, testing::Values("devices", "mlp_all", "threads"),
                         [](const auto& test_case) { return test_case.param; });

PaddleLayer Layer(const char* name, size_t depth, int64_t time, int64_t flops) {
  return {name, depth, time, flops};
}

std::string FlopLines(const std::vector<PaddleLayer>& layers) {
  const std::string text = FormatPaddleFlops(layers);
  const size_t begin = text.find('\n') + 1;
  return text.substr(begin, text.rfind("\n---") - begin);
}

// Expected lines are what gen_layer_flops of paddlepaddle 3.3.1 makes of the same times and numbers.
TEST(PaddleFlopsText, ScaleAndRoundAsPaddleDoes) {
  EXPECT_EQ(FlopLines({Layer("Net", 2, 1500000, 2500), Layer("matmul", 3, 999, 1000000), Layer("add", 3, 1000, 0)}),
            "Net latency: 1.5 ms, FLOPs: 2.5 K, FLOPS: 1.67 M\n"
            " matmul latency: 999 ns, FLOPs: 1.0 M, FLOPS: 1.0 T\n"
            " add latency: 1.0 us, FLOPs: 0, FLOPS: 0.0\n");
}

TEST(PaddleFlopsText, EndWhereTheFirstLayerRepeats) {
  EXPECT_EQ(FlopLines({Layer("Net", 2, 1500000000, 0), Layer("Net", 3, 20, 0), Layer("Net", 2, 20, 0)}),
            "Net latency: 1.5 s, FLOPs: 0, FLOPS: 0.0\n"
            " Net latency: 20 ns, FLOPs: 0, FLOPS: 0.0\n");
}

// Two operators, two kernels and two phases as long as possible.
PaddleStatistics LongestTimes() {
  PaddleItem item;
  item.calls = 1;
  for (PaddleTimes* const times : {&item.host, &item.kernels, &item.device})
    times->Add(INT64_MAX);
  PaddleStatistics statistics;
  statistics.total_time = 1000;
  statistics.kernels = {item, item};
  statistics.operators = {{.thread = 1, .operators = {{item, {}, {}}, {item, {}, {}}}}};
  statistics.phases = {{.type = PaddleEventType::kForward, .item = item},
                       {.type = PaddleEventType::kBackward, .item = item}};
  return statistics;
}

std::string LongestTimesOf(PaddleView view) {
  PaddleTableOptions options;
  options.views = 1u << static_cast<uint32_t>(view);
  options.time_unit = "s";
  return FormatPaddleSummary(Trace(), LongestTimes(), options);
}

TEST(PaddleSummary, SaturatesSumsOfTimes) {
  const std::string whole = "9223372036.85 / 9223372036.85 / 9223372036.85 / - / 100.00";
  EXPECT_NE(LongestTimesOf(PaddleView::kOperator).find(whole), std::string::npos);
  EXPECT_NE(LongestTimesOf(PaddleView::kKernel).find(whole), std::string::npos);
  EXPECT_NE(LongestTimesOf(PaddleView::kModel).find("-9223372036.85 / - / - / - / "), std::string::npos);
}

}  // namespace
}  // namespace opscope
