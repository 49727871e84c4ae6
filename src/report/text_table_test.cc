// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/escaped_text.h"
#include "base/lines_for_test.h"

namespace opscope {
namespace {

TextColumn Text(std::string title, std::vector<std::string> cells) {
  return {std::move(title), true, false, std::move(cells)};
}
TextColumn Number(std::string title, std::vector<std::string> cells, bool is_kept = false) {
  return {std::move(title), false, is_kept, std::move(cells)};
}

TEST(TextTable, LeavesOutColumnsFromTheRightAndSaysSo) {
  const std::vector<TextColumn> columns = {Text("Name", {"aten::mm"}), Number("Count", {"1"}),
                                           Number("Total", {"12.000 us"}), Number("Self", {"10.000 us"}),
                                           Number("Mean", {"12.000 us"})};
  EXPECT_EQ(LayOutTable(columns, 48),
            "Name      Count      Total       Self       Mean\n"
            "aten::mm      1  12.000 us  10.000 us  12.000 us\n");
  EXPECT_EQ(LayOutTable(columns, 40),
            "Name      Count      Total       Self\n"
            "aten::mm      1  12.000 us  10.000 us\n"
            "Left out: Mean\n");
  EXPECT_EQ(LayOutTable(columns, 26),
            "Name      Count      Total\n"
            "aten::mm      1  12.000 us\n"
            "Left out: Self, Mean\n");
}

TEST(TextTable, CutsNoNameBelowFortyOrHalfTheWidthWhileColumnsAreLeft) {
  const std::string name = std::string(60, 'a') + std::string(60, 'z');
  std::vector<TextColumn> columns = {Text("Name", {name})};
  for (int i = 0; i < 16; ++i)
    columns.push_back(Number("Number " + std::to_string(i), {"123.456 us"}));
  for (const auto& [width, least] : {std::pair<size_t, size_t>(40, 20), {60, 30}, {80, 40}, {120, 40}, {200, 40}}) {
    const std::vector<std::string> lines = LinesOf(LayOutTable(columns, width));
    const size_t shown = lines[1].find("  ");
    EXPECT_GE(shown, least) << width;
    EXPECT_LT(shown, least + 12) << width << ": there was room for one more column";
    EXPECT_EQ(lines[1].size(), width) << "the name has what the others leave";
    EXPECT_EQ(lines.size(), 3u) << width;
  }
}

TEST(TextTable, KeepsTheColumnThatWasAskedFor) {
  EXPECT_EQ(
      LayOutTable({Text("Name", {"x"}), Number("One", {"1"}), Number("Two", {"2"}), Number("FLOPs", {"9"}, true)}, 20),
      "Name  One  FLOPs\nx       1      9\nLeft out: Two\n");
}

TEST(TextTable, SaysInOneLineHowManyItDoesNotName) {
  const std::vector<std::string> names = {"Self", "Self %", "Mean", "Min", "P50", "P99"};
  EXPECT_EQ(LeftOutLine(names, 80), "Left out: Self, Self %, Mean, Min, P50, P99");
  EXPECT_EQ(LeftOutLine(names, 40), "Left out: Self, Self %, Mean and 3 more");
  EXPECT_EQ(LeftOutLine(names, 20), "Left out: 6 columns");
  EXPECT_EQ(LeftOutLine(names, 8), "Le...mns");
}

TEST(TextTable, CutsTheOtherTextsBeforeTheName) {
  const std::vector<std::string> lines = LinesOf(LayOutTable(
      {Text("Name", {std::string(30, 'n')}), Text("shape", {std::string(60, 's')}), Number("Count", {"7"})}, 80));
  EXPECT_EQ(lines[1].find("  "), 30u);
  EXPECT_EQ(lines[1].size(), 80u);
}

TEST(TextTable, MeasuresWideCharactersAndEscapes) {
  EXPECT_EQ(LayOutTable({Text("Name", {"\u65e5\u672c", "a\x1b[0m", "b\u202e"}), Number("N", {"1", "2", "3"})}, 0),
            "Name      N\n"
            "\u65e5\u672c      1\n"
            "a\\x1b[0m  2\n"
            "b\\u202e   3\n");
}

// Whatever stands in the cells.
TEST(TextTable, NeverHasALineThatIsWiderThanTheTerminal) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<TextColumn> columns;
    const size_t rows = random() % 4;
    for (size_t c = 1 + random() % 9; c > 0; --c) {
      TextColumn& column = columns.emplace_back();
      column.is_text = columns.size() == 1 || random() % 4 == 0;
      column.is_kept = random() % 5 == 0;
      const auto text = [&] {
        std::string cell;
        for (size_t i = random() % (column.is_text ? 90 : 12); i > 0; --i) {
          const std::string letter[] = {"a", "b", ":", "\u65e5", "e\u0301", "\x1b"};
          cell += letter[random() % (column.is_text ? std::size(letter) : 2)];
        }
        return cell;
      };
      column.title = text();
      for (size_t row = 0; row < rows; ++row)
        column.cells.push_back(text());
    }
    for (const size_t width : {1u, 2u, 7u, 40u, 80u, 120u, 200u}) {
      for (const std::string& line : LinesOf(LayOutTable(columns, width)))
        ASSERT_LE(DisplayWidth(line), width) << "round " << round << "\n" << line;
    }
  }
}

}  // namespace
}  // namespace opscope
