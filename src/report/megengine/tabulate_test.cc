// What Python's tabulate 0.9 prints of the same tables.
// SPDX-License-Identifier: Apache-2.0
#include "report/megengine/tabulate.h"

#include <gtest/gtest.h>

#include <limits>

namespace opscope {
namespace {

TEST(Tabulate, PutsThePointsOfNumbersBelowEachOther) {
  EXPECT_EQ(Tabulate({.titles = {"name", "time"}, .columns = {{"MUL", "\xc3\xa4\xe2\x82\xac"}, {0.5, 12.25}}},
                     TableStyle::kFancyGrid),
            "╒════════╤════════╕\n"
            "│ name   │   time │\n"
            "╞════════╪════════╡\n"
            "│ MUL    │   0.5  │\n"
            "├────────┼────────┤\n"
            "│ ä€     │  12.25 │\n"
            "╘════════╧════════╛");
}

TEST(Tabulate, TakesTextsForNumbersAsPythonDoes) {
  EXPECT_EQ(Tabulate({.titles = {"n", "t"}, .columns = {{"1_000", "-2.5"}, {"a", "b"}}}, TableStyle::kFancyGrid),
            "╒════════╤═════╕\n"
            "│      n │ t   │\n"
            "╞════════╪═════╡\n"
            "│ 1000   │ a   │\n"
            "├────────┼─────┤\n"
            "│   -2.5 │ b   │\n"
            "╘════════╧═════╛");
}

TEST(Tabulate, HasATableWithoutRows) {
  EXPECT_EQ(Tabulate({.titles = {"n", "t"}, .columns = {{}, {}}}, TableStyle::kFancyGrid),
            "╒═════╤═════╕\n"
            "│ n   │ t   │\n"
            "╞═════╪═════╡\n"
            "╘═════╧═════╛");
}

TEST(Tabulate, LeavesOutTheLineAboveRowsThatContinue) {
  EXPECT_EQ(Tabulate({.titles = {"a"}, .columns = {{"x", "y", "z"}}, .continues = {false, true, false}},
                     TableStyle::kFancyGrid),
            "╒═════╕\n"
            "│ a   │\n"
            "╞═════╡\n"
            "│ x   │\n"
            "│ y   │\n"
            "├─────┤\n"
            "│ z   │\n"
            "╘═════╛");
}

TEST(Tabulate, ShowsPairsWithoutTitlesBetweenLines) {
  EXPECT_EQ(Tabulate({.titles = {}, .columns = {{"total device time", "total host time"}, {0.004069, 0.000126}}},
                     TableStyle::kSimple),
            "-----------------  --------\n"
            "total device time  0.004069\n"
            "total host time    0.000126\n"
            "-----------------  --------");
  EXPECT_EQ(
      Tabulate({.titles = {}, .columns = {{"total device time", "copy time"}, {0.004069, "N/A"}}}, TableStyle::kSimple),
      "-----------------  --------\n"
      "total device time  0.004069\n"
      "copy time          N/A\n"
      "-----------------  --------");
}

TEST(Tabulate, AlignsWhatIsNoNumberWithThoseThatAre) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Tabulate({.titles = {"n", "t"}, .columns = {{"x", "y"}, {1e-7, nan}}}, TableStyle::kConfluence),
            "| n   |       t |\n"
            "|-----|---------|\n"
            "| x   |   1e-07 |\n"
            "| y   | nan     |");
}

}  // namespace
}  // namespace opscope
