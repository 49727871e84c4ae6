// SPDX-License-Identifier: Apache-2.0
#include "report/row_table.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

namespace opscope {
namespace {

RowTable Fruits() {
  RowTable rows;
  rows.AddTexts("name", "Name", {"pear", "apple, \"red\"", "fig\n2"});
  rows.AddNumbers("total_ns", "Total", RowUnit::kTime, {2000, 500, 2000});
  rows.AddShares("share", "Share", {1, 2, 0}, 3);
  rows.AddNumbers("empty", "Empty", RowUnit::kNumber, {0, 0, 0});
  rows.AddNumbers("id", "", RowUnit::kNumber, {7, -8, 9007199254740993});
  rows.HideIfZero("empty");
  rows.HideIfZero("total_ns");
  return rows;
}

TEST(RowTable, IsAlignedForPeopleWithoutEmptyColumnsAndLineEnds) {
  EXPECT_EQ(Fruits().ForPeople(0, 0),
            "Name             Total  Share\n"
            "pear          2.000 us  33.3%\n"
            "apple, \"red\"    500 ns  66.7%\n"
            "fig\\x0a2      2.000 us   0.0%\n");
}

TEST(RowTable, CutsTextsInTheMiddleToFitATerminal) {
  RowTable rows;
  rows.AddTexts("name", "Name", {"abcdefghijklmnopqrstuvwxyz"});
  rows.AddNumbers("n", "N", RowUnit::kNumber, {1});
  EXPECT_EQ(rows.ForPeople(0, 23), "Name                  N\nabcdefgh...rstuvwxyz  1\n");
}

TEST(RowTable, KeepsTheColumnThatItIsSortedByInANarrowTerminal) {
  RowTable rows = Fruits();
  EXPECT_EQ(rows.ForPeople(1, 16), "Name     Total\npear  2.000 us\nLeft out: Share\n");
  ASSERT_TRUE(rows.Sort("share").ok());
  EXPECT_EQ(rows.ForPeople(1, 16), "Name       Share\napp...ed\"  66.7%\nLeft out: Total\n");
}

TEST(RowTable, IsCsvWithEveryKey) {
  EXPECT_EQ(Fruits().Csv(2),
            "name,total_ns,share,empty,id\r\n"
            "pear,2000,0.333333,0,7\r\n"
            "\"apple, \"\"red\"\"\",500,0.666667,0,-8\r\n");
}

TEST(RowTable, IsJsonWithExactNumbers) {
  std::string text;
  Fruits().AppendJson(0, &text);
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(text);
  const simdjson::dom::array rows = parser.parse(padded);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(std::string_view(rows.at(2)["name"]), "fig\n2");
  EXPECT_EQ(int64_t(rows.at(2)["id"]), 9007199254740993);
  EXPECT_EQ(double(rows.at(1)["share"]), 0.666667);
}

TEST(RowTable, HasNoSharesOfNothing) {
  RowTable rows;
  rows.AddShares("share", "Share", {0}, 0);
  EXPECT_EQ(rows.ForPeople(0, 0), "Share\n    -\n");
  EXPECT_EQ(rows.Csv(0), "share\r\n\r\n");
  std::string json;
  rows.AppendJson(0, &json);
  EXPECT_EQ(json, "[\n{\"share\":null}\n]");
}

TEST(RowTable, SortsNumbersDownTextsUpAndKeepsEqualRowsInOrder) {
  RowTable rows = Fruits();
  ASSERT_TRUE(rows.Sort("total").ok());
  EXPECT_EQ(rows.ForPeople(2, 0), "Name         Total  Share\npear      2.000 us  33.3%\nfig\\x0a2  2.000 us   0.0%\n");
  ASSERT_TRUE(rows.Sort("name").ok());
  EXPECT_EQ(rows.Csv(1), "name,total_ns,share,empty,id\r\n\"apple, \"\"red\"\"\",500,0.666667,0,-8\r\n");
}

TEST(RowTable, NamesTheKeysWhenItCannotSort) {
  RowTable rows = Fruits();
  EXPECT_EQ(rows.Sort("price").error().message,
            "cannot sort by 'price'; choose one of: name, total_ns, share, empty, id");
}

}  // namespace
}  // namespace opscope
