// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "opscope/torch/table.h"
#include "report/torch/row_for_test.h"

namespace opscope {
namespace {

std::string PlainTable(const std::vector<TorchTableRow>& rows, const TorchTableOptions& options = {}) {
  Result<std::string> text = FormatPlainTable(rows, options);
  return text.ok() ? text.value() : "error: " + text.error().message;
}

TEST(PlainTable, SaysWhatItLeavesOut) {
  TorchTableOptions options;
  options.row_limit = 1;
  EXPECT_EQ(PlainTable({Op("aten::conv2d", 8, 9), Op("aten::add", 3, 4, 2), Op("aten::mul", 2, 2, 12)}, options),
            "Self %     Self    Total     Mean  Calls  Name\n"
            " 61.54  8.000us  9.000us  9.000us      1  aten::conv2d\n"
            " 38.46  5.000us        -        -     14  (2 more)\n"
            "Self CPU time total: 13.000us\n");
}

TEST(PlainTable, NeverCutsANameAndEndsNoLineInBlanks) {
  const std::string name(300, 'x');
  const std::string text = PlainTable({Op(name, 1, 1), Op("short", 1, 1)});
  EXPECT_NE(text.find("  " + name + "\n"), std::string::npos);
  EXPECT_EQ(text.find(" \n"), std::string::npos);
}

TEST(PlainTable, EscapesWhatATerminalObeys) {
  TorchTableOptions options;
  options.header = "run\x1b[2J";
  const std::string text = PlainTable({Op("a\nb\u202e", 1, 1)}, options);
  EXPECT_TRUE(text.starts_with("run\\x1b[2J\n")) << text;
  EXPECT_NE(text.find("  a\\x0ab\\u202e\n"), std::string::npos) << text;
}

TEST(PlainTable, HasSharesThatAddUp) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<TorchTableRow> rows;
    const size_t count = 1 + random() % 30;
    for (size_t i = 0; i < count; ++i)
      rows.push_back(Op("op", static_cast<double>(random() % 1000) - 20, 1));
    TorchTableOptions options;
    options.row_limit = static_cast<int64_t>(random() % 35) - 1;
    double sum = 0, self = 0;
    for (const TorchTableRow& row : rows)
      self += row.self_cpu_time_total;
    if (self <= 0) continue;
    std::istringstream lines(PlainTable(rows, options));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line) && !line.starts_with("Self CPU"))
      sum += std::stod(line);
    EXPECT_NEAR(sum, 100, 1e-6) << "round " << round;
  }
}

TEST(PlainTable, SortsByTorchsNamesAndRefusesOthersInItsWords) {
  TorchTableOptions options;
  options.sort_by = "count";
  const std::string text = PlainTable({Op("few", 5, 5, 1), Op("many", 1, 1, 9)}, options);
  EXPECT_LT(text.find("many"), text.find("few"));
  options.sort_by = "nothing";
  EXPECT_EQ(PlainTable({Op("a", 1, 1)}, options), "error: 'FunctionEventAvg' object has no attribute 'nothing'");
}

TEST(PlainTable, IsEmptyWithoutRows) {
  EXPECT_EQ(PlainTable({}), "");
}

TEST(PlainTable, HasNoSharesOfNoTime) {
  EXPECT_NE(PlainTable({Op("a", 0, 0)}).find("  0.00"), std::string::npos);
}

TEST(PlainTable, SaturatesNumbersOfAnySize) {
  TorchTableRow row = Op("a", 1e18, 1);
  row.flops = 9223372036854775808.0;  // what a sum of FLOPs that saturated becomes
  const std::string text = PlainTable({row, Op("b", 128 - 1e18, 1)});
  EXPECT_NE(text.find(" 9223.37 P "), std::string::npos) << text;
  EXPECT_NE(text.find("\n 92233720368547760.00 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n-92233720368547760.00 "), std::string::npos) << text;
}

}  // namespace
}  // namespace opscope
