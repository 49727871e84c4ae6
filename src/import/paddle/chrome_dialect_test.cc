// Paddle's Chrome traces against the summary that Paddle prints of the same run.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>

#include "import/chrome/dialect.h"
#include "import/paddle/importer.h"
#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

const fs::path kPaddleSamples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/paddle";

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
TEST(PaddleChrome, HasTheOperatorsOfPaddlesSummary) {
  if (!fs::exists(kPaddleSamples)) GTEST_SKIP() << kPaddleSamples << " is not there";
  const Result<Trace> trace = ImportFile((kPaddleSamples / "mlp.json.gz").string());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().info().format, "paddle-json");
  std::map<std::string, Times> operators = OperatorsOf(trace.value());
  std::ifstream summary(kPaddleSamples / "mlp_summary_threads_us.txt");
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

TEST(PaddleChrome, JoinsTheInputSlotsInTheirOrder) {
  JsonScanner scanner(
      R"({"input_dtypes": {"X": ["FP32", "INT64"], "Y": ["FP16"]}, "input_shapes": {"X": [[2, 3], []], "Y": [[4]]}})");
  std::vector<JsonMember> members;
  ASSERT_TRUE(scanner.ReadMembers(&members));
  ChromeLists lists;
  static constexpr const ChromeDialect* kDialects[] = {&kPaddleChromeDialect};
  ASSERT_TRUE(ReadChromeLists(ChromeDialects(kDialects), members, &lists));
  EXPECT_EQ(lists.dims, "[[2, 3], [], [4]]");
  EXPECT_EQ(lists.types, R"(["FP32", "INT64", "FP16"])");
}

}  // namespace
}  // namespace opscope
