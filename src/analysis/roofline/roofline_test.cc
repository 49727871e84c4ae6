// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/roofline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/roofline/roofline_program_for_test.h"

namespace opscope {
namespace {

std::map<std::string, RooflineRow> RowsByName(const Trace& trace, const RooflineOptions& options = {}) {
  std::map<std::string, RooflineRow> rows;
  for (RooflineRow& row : MeasureRoofline(trace, options).rows)
    rows.emplace(trace.text(row.name), row);
  return rows;
}

const std::vector<TestArgument> kLinear = {T("float", {3, 5}), T("float", {7, 5}), T("float", {7})};
const std::vector<TestArgument> kAddmm = {T("float", {7}), T("float", {3, 5}), T("float", {5, 7}), S("1"), S("1")};

// The example of operator_calls.cc.
TEST(Roofline, CountsEachMomentOnce) {
  RooflineProgram program;
  program.Add("aten::linear", 0, 100, kLinear);
  program.Add("aten::t", 5, 13, {T("float", {7, 5})});
  program.Add("aten::addmm", 15, 95, kAddmm);
  program.Add("aten::copy_", 20, 40, {T("float", {3, 7}), T("float", {3, 7}), S("False")});
  program.Add("aten::empty", 50, 52);
  const Trace trace = program.Build();
  const auto rows = RowsByName(trace);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows.at("aten::linear").time_ns, 12);
  EXPECT_EQ(rows.at("aten::linear").flops, 0);
  EXPECT_EQ(rows.at("aten::t").time_ns, 8);
  EXPECT_EQ(rows.at("aten::addmm").time_ns, 60);
  EXPECT_EQ(rows.at("aten::addmm").flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(rows.at("aten::copy_").time_ns, 20);
  EXPECT_EQ(MeasureRoofline(trace).time_ns, 100);
  EXPECT_EQ(MeasureRoofline(trace).known_ns, 100);
}

TEST(Roofline, CountsAShellOnlyIfItCallsNoOtherOperator) {
  RooflineProgram program;
  program.Add("aten::zero_", 0, 10, {T("float", {8})});
  program.Add("aten::zero_", 20, 40, {T("float", {8})});
  program.Add("aten::fill_", 25, 35, {T("float", {8}), S("0")});
  const auto rows = RowsByName(program.Build());
  EXPECT_EQ(rows.at("aten::zero_").calls, 2u);
  EXPECT_EQ(rows.at("aten::zero_").time_ns, 20);
  EXPECT_EQ(rows.at("aten::zero_").bytes, 32);
  EXPECT_EQ(rows.at("aten::fill_").bytes, 32);
}

// As x.abs(), x.mul_(2) and x.sum() do on the CPU.
TEST(Roofline, CountsAnOperatorThatCallsItsOwnOverloadOnce) {
  for (const auto& [outer, inner] : {std::pair("aten::abs", "aten::abs"), std::pair("aten::mul_", "aten::mul"),
                                     std::pair("aten::sum", "aten::sum")}) {
    RooflineProgram program;
    program.Add(outer, 0, 100, {T("float", {8})});
    program.Add(inner, 20, 90, {T("float", {8}), T("float", {0})});
    program.Add("aten::empty", 30, 40);
    const Trace trace = program.Build();
    const RooflineReport report = MeasureRoofline(trace);
    ASSERT_EQ(report.rows.size(), 1u) << outer;
    EXPECT_EQ(trace.text(report.rows[0].name), outer);
    EXPECT_EQ(report.rows[0].calls, 1u);
    EXPECT_EQ(report.rows[0].time_ns, 100);
    EXPECT_EQ(report.rows[0].flops, 8);
  }
}

// The CPU has no kernels of its own for these; a device has, and there they count themselves.
TEST(Roofline, CountsPartsOfDropoutAndRmsNormWhereTheyAreCalled) {
  const TestArgument x = T("float", {4, 8});
  const std::pair<const char*, std::vector<TestArgument>> calls[] = {
      {"aten::native_dropout", {x, S("0.5"), S("True")}},
      {"aten::_fused_rms_norm", {x, L("[8]"), None(), S("1e-05")}},
      {"aten::roll", {x, L("[1]"), L("[0]")}}};
  for (const auto& [name, arguments] : calls) {
    RooflineProgram program;
    program.Add(name, 0, 100, arguments);
    program.Add("aten::mul", 20, 90, {x, x});
    const auto rows = RowsByName(program.Build());
    EXPECT_EQ(rows.at(name).flops, 0) << name;
    EXPECT_EQ(rows.at(name).bytes, 0) << name;
    EXPECT_EQ(rows.at("aten::mul").flops, 32) << name;
    RooflineProgram alone;
    alone.Add(name, 0, 100, arguments);
    EXPECT_GT(RowsByName(alone.Build()).at(name).bytes, 0) << name;
  }
}

TEST(Roofline, JoinsCallsOfEqualShapesAndSplitsTypes) {
  RooflineProgram program;
  program.Add("aten::exp", 0, 10, {T("float", {8, 4}, {4, 1})});
  program.Add("aten::exp", 10, 30, {T("float", {8, 4}, {1, 8})});
  program.Add("aten::exp", 30, 90, {T("double", {8, 4}, {1, 8})});
  const Trace trace = program.Build();
  const RooflineReport report = MeasureRoofline(trace);
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].dtype, "double");
  EXPECT_EQ(report.rows[0].bytes, 8 * 64);
  EXPECT_EQ(report.rows[1].shapes, "[[8, 4]]");
  EXPECT_EQ(report.rows[1].calls, 2u);
  EXPECT_EQ(report.rows[1].time_ns, 30);
  EXPECT_EQ(report.rows[1].flops, 64);
}

TEST(Roofline, TakesTheTimeOfTheDeviceWhereThereIsOne) {
  RooflineProgram program;
  program.Add("aten::linear", 0, 100, kLinear);
  program.Add("aten::addmm", 15, 95, kAddmm);
  program.Add("cudaLaunchKernel", 20, 30, {}, 4, "cuda_runtime");
  program.Add("aten::view", 200, 230, {T("float", {3, 7}), L("[21]")});
  program.Kernel("sgemm", 400, 407, 4);
  const auto rows = RowsByName(program.Build(), {.peak_flops = 60e9, .peak_bandwidth = 1e12});
  EXPECT_EQ(rows.at("aten::addmm").time_ns, 7);
  EXPECT_EQ(rows.at("aten::addmm").host_ns, 80);
  EXPECT_DOUBLE_EQ(*rows.at("aten::addmm").flops_per_s(), 210 / 7e-9);
  EXPECT_EQ(rows.at("aten::addmm").bound, RooflineBound::kCompute);
  EXPECT_DOUBLE_EQ(*rows.at("aten::addmm").peak_share, 0.5);
  EXPECT_EQ(rows.at("aten::view").time_ns, 0);
  EXPECT_FALSE(rows.at("aten::view").flops_per_s().has_value());
}

TEST(Roofline, DoesNotTrustAViewThatLaunchesWork) {
  RooflineProgram program;
  program.Add("aten::to", 0, 100, {T("float", {8})});
  program.Add("cudaLaunchKernel", 20, 30, {}, 4, "cuda_runtime");
  program.Kernel("strange", 400, 407, 4);
  const auto rows = RowsByName(program.Build());
  EXPECT_EQ(rows.at("aten::to").flops, std::nullopt);
  EXPECT_EQ(rows.at("aten::to").bytes, std::nullopt);
}

// 8 FLOPs and 64 bytes in 10 ns: below the ridge of 1 FLOP per byte.
TEST(Roofline, ComparesWithTheLowerLimit) {
  RooflineProgram program;
  program.Add("aten::exp", 0, 10, {T("float", {8})});
  const Trace trace = program.Build();
  const RooflineRow row = MeasureRoofline(trace, {.peak_flops = 64e9, .peak_bandwidth = 64e9}).rows.at(0);
  EXPECT_EQ(row.bound, RooflineBound::kMemory);
  EXPECT_DOUBLE_EQ(*row.intensity(), 0.125);
  EXPECT_DOUBLE_EQ(*row.peak_share, 0.1);
  RooflineOptions options;
  options.peak_bandwidth = 64e9;
  const RooflineRow half = MeasureRoofline(trace, options).rows.at(0);
  EXPECT_EQ(half.bound, RooflineBound::kUnknown);
  EXPECT_FALSE(half.peak_share.has_value());
}

TEST(Roofline, FindsPeaksByTheNameOfTheDevice) {
  RooflineProgram program;
  program.Add("aten::exp", 0, 10, {T("c10::BFloat16", {8})});
  program.builder().AddMetadata("deviceProperties", R"([{"id": 0, "name": "NVIDIA H100 80GB HBM3", "x": "name"}])");
  const RooflineReport report = MeasureRoofline(program.Build());
  EXPECT_EQ(report.device, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(report.peak_bandwidth, 3.35e12);
  EXPECT_EQ(report.rows.at(0).peak_flops, 989.5e12);
  EXPECT_EQ(PeaksOfDevice("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), nullptr);
  EXPECT_EQ(PeaksOfDevice("NVIDIA GH200 480GB"), nullptr);
  for (const DevicePeaks& peaks : KnownDevicePeaks())
    EXPECT_FALSE(peaks.source.empty());
}

TEST(Roofline, TakesThePeakOfTf32WhereAKernelSaysThatItComputesInIt) {
  const auto peak = [](const char* kernel, const char* dtype) {
    RooflineProgram program;
    program.builder().AddMetadata("deviceProperties", R"([{"id": 0, "name": "NVIDIA H200"}])");
    const auto matrix = T(dtype, {64, 64});
    program.Add("aten::mm", 0, 10, {matrix, matrix});
    program.Add("cudaLaunchKernel", 2, 3, {}, 5, "cuda_runtime");
    program.Kernel(kernel, 20, 30, 5);
    return MeasureRoofline(program.Build()).rows.at(0).peak_flops;
  };
  EXPECT_EQ(peak("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw", "float"), 494.7e12);
  EXPECT_EQ(peak("cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4", "float"), 494.7e12);
  EXPECT_EQ(peak("cutlass_80_simt_sgemm_128x64_8x5_nn_align1", "float"), 67e12);
  EXPECT_EQ(peak("nvjet_tf32", "c10::Half"), 989.5e12);
}

TEST(Roofline, KnowsNoDeviceWhereTheMetadataIsSenseless) {
  for (const char* json : {"", "[", "[{\"name\"", "[{\"name\":\"H100 80GB HBM3", "{\"name\": \"NVIDIA H200\"}", "\"\\",
                           R"([{"name": "NVIDIA H200"}, {"name": "NVIDIA H100 80GB HBM3"}])"}) {
    RooflineProgram program;
    program.Add("aten::exp", 0, 10, {T("float", {8})});
    program.builder().AddMetadata("deviceProperties", json);
    EXPECT_FALSE(MeasureRoofline(program.Build()).peak_bandwidth.has_value()) << json;
  }
}

TEST(Roofline, HasNoRowsWithoutOperators) {
  EXPECT_TRUE(MeasureRoofline(Trace()).rows.empty());
  RooflineProgram program;
  program.Add("main", 0, 10, {}, 0, "python_function");
  EXPECT_TRUE(MeasureRoofline(program.Build()).rows.empty());
}

// The definition, in the plainest way: an operator counts if it has a formula and is not called by itself; its time is
// its duration without the nearest rows inside it, which are found by walking up from every span.
TEST(Roofline, AgreesWithTheDefinitionOnRandomPrograms) {
  const char* const names[] = {"aten::exp", "aten::mm", "aten::view", "aten::median", "aten::add"};
  std::mt19937 random(20);
  for (int round = 0; round < 1000; ++round) {
    RooflineProgram program;
    for (int i = 0; i < 12; ++i) {
      const int64_t begin = static_cast<int64_t>(random() % 40), length = static_cast<int64_t>(random() % 20);
      program.Add(names[random() % 5], begin, begin + length, {T("float", {2, 2}), T("float", {2, 2})});
    }
    const Trace trace = program.Build();
    const SpanColumns& spans = trace.spans();
    const auto parent = [&](size_t i) { return static_cast<size_t>(Row(spans.parent[i])); };
    const auto is_formula = [&](size_t i) {
      const std::string_view name = trace.text(spans.name[i]);
      if (name == "aten::mm") return true;
      const bool is_called_by_itself = spans.parent[i] != SpanId::kNone && spans.name[parent(i)] == spans.name[i];
      return (name == "aten::exp" || name == "aten::add") && !is_called_by_itself;
    };
    const auto end = [&](size_t i) {
      int64_t clipped = spans.start[i].ns + spans.duration[i].ns;
      for (size_t at = i; spans.parent[at] != SpanId::kNone; at = parent(at)) {
        const size_t around = parent(at);
        clipped = std::min(clipped, spans.start[around].ns + spans.duration[around].ns);
      }
      return std::max(clipped, spans.start[i].ns);
    };
    // A row: with a formula, or not within one.
    const auto is_row = [&](size_t i) {
      if (is_formula(i)) return true;
      for (size_t at = i; spans.parent[at] != SpanId::kNone; at = parent(at)) {
        if (is_formula(parent(at))) return false;
      }
      return true;
    };
    std::map<std::string, int64_t> expected;
    for (size_t i = 0; i < spans.size(); ++i) {
      if (!is_row(i)) continue;
      int64_t time = end(i) - spans.start[i].ns;
      for (size_t inner = i + 1; inner < spans.size(); ++inner) {
        if (!is_row(inner)) continue;
        size_t at = inner;
        do {
          if (spans.parent[at] == SpanId::kNone) break;
          at = parent(at);
        } while (!is_row(at));
        if (at == i && at != inner) time -= end(inner) - spans.start[inner].ns;
      }
      expected[std::string(trace.text(spans.name[i]))] += std::max<int64_t>(0, time);
    }
    std::map<std::string, int64_t> actual;
    for (const RooflineRow& row : MeasureRoofline(trace).rows)
      actual[std::string(trace.text(row.name))] += row.time_ns;
    ASSERT_EQ(actual, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace opscope
