// Chrome traces of other tools against what those tools print of the same run, and which tool a trace is of.
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/dialect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>

#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

const fs::path kSamples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples";

struct Times {
  int64_t count = 0;
  double total_us = 0, max_us = 0, min_us = 1e30;
};

std::map<std::string, Times> OperatorsOf(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  std::map<std::string, Times> operators;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (trace.text(spans.category[i]) != "Operator") continue;
    Times& times = operators[std::string(trace.text(spans.name[i]))];
    const double us = static_cast<double>(spans.duration[i].ns) / 1000;
    ++times.count;
    times.total_us += us;
    times.max_us = std::max(times.max_us, us);
    times.min_us = std::min(times.min_us, us);
  }
  return operators;
}

// "matmul dygraph   6   319.78 / 53.30 / 114.18 / 28.09 / 19.88   ..."
TEST(ChromeDialect, HasTheOperatorsOfPaddlesSummary) {
  if (!fs::exists(kSamples)) GTEST_SKIP() << kSamples << " is not there";
  const Result<Trace> trace = ImportFile((kSamples / "paddle/mlp.json.gz").string());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().info().format, "paddle-json");
  std::map<std::string, Times> operators = OperatorsOf(trace.value());
  std::ifstream summary(kSamples / "paddle/mlp_summary_threads_us.txt");
  const std::regex row(R"(^(\S.*?) {2,}(\d+) +([\d.]+) / ([\d.]+) / ([\d.]+) / ([\d.]+) / [\d.]+ .*)");
  bool in_operators = false;
  size_t rows = 0;
  for (std::string line; std::getline(summary, line);) {
    if (line.find("Summary") != std::string::npos) in_operators = line.find("Operator Summary") != std::string::npos;
    std::smatch match;
    if (!in_operators || !std::regex_match(line, match, row)) continue;
    const Times& times = operators[match[1]];
    EXPECT_EQ(times.count, std::stoll(match[2])) << line;
    EXPECT_NEAR(times.total_us, std::stod(match[3]), 0.006) << line;
    EXPECT_NEAR(times.max_us, std::stod(match[5]), 0.006) << line;
    EXPECT_NEAR(times.min_us, std::stod(match[6]), 0.006) << line;
    ++rows;
  }
  EXPECT_EQ(rows, operators.size());
  EXPECT_GT(rows, 5u);
}

// Measured on the wheel that wrote the sample: one training step of LeNet runs 115 operators.
TEST(ChromeDialect, HasEveryOperatorOfAMegEngineStep) {
  if (!fs::exists(kSamples)) GTEST_SKIP() << kSamples << " is not there";
  const Result<Trace> trace = ImportFile((kSamples / "megengine/lenet.chrome_timeline.json.gz").string());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().info().format, "megengine-json");
  EXPECT_EQ(trace.value().info().epoch_ns, 1795216449185312847);
  const SpanColumns& spans = trace.value().spans();
  int64_t kernels = 0, dispatches = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    kernels += trace.value().tracks().kind[Row(spans.track[i])] == TrackKind::kDeviceStream;
    dispatches += trace.value().text(spans.name[i]) == "OpDispatch";
  }
  EXPECT_EQ(kernels, 115);
  EXPECT_EQ(dispatches, 115);
}

TEST(ChromeDialect, ReadsTheSlotsOfPaddleInTheirOrder) {
  JsonScanner scanner(
      R"({"input_dtypes": {"X": ["FP32", "INT64"], "Y": ["FP16"]}, "input_shapes": {"X": [[2, 3], []], "Y": [[4]]}})");
  std::vector<JsonMember> members;
  ASSERT_TRUE(scanner.ReadMembers(&members));
  DialectLists lists;
  ASSERT_TRUE(ReadDialectLists(members, &lists));
  EXPECT_EQ(lists.dims, "[[2, 3], [], [4]]");
  EXPECT_EQ(lists.types, R"(["FP32", "INT64", "FP16"])");
}

TEST(ChromeDialect, ReadsTheShapeOfATensorOfMegEngine) {
  const std::pair<const char*, const char*> shapes[] = {
      {"{64,3}", "[[64,3]]"}, {"{}", "[[]]"}, {"64", ""},     {"{a}", ""},  {"{", ""},
      {"{2,-3}", ""},         {"{02,3}", ""}, {"{2,,3}", ""}, {"{2,}", ""}, {"{,2}", ""},
      {"{0,10}", "[[0,10]]"}};
  for (const auto& [shape, dims] : shapes) {
    const std::string text = R"({"shape": ")" + std::string(shape) + R"(", "dtype": "Float32"})";
    JsonScanner scanner(text);
    std::vector<JsonMember> members;
    ASSERT_TRUE(scanner.ReadMembers(&members));
    DialectLists lists;
    const bool found = ReadDialectLists(members, &lists);
    EXPECT_EQ(found ? lists.dims : "", dims) << shape;
  }
}

}  // namespace
}  // namespace opscope
