// SPDX-License-Identifier: Apache-2.0
#include "base/csv.h"

#include <gtest/gtest.h>

namespace opscope {
namespace {

std::string Field(std::string_view text) {
  std::string out;
  AppendCsvField(&out, text);
  return out;
}

TEST(CsvField, IsQuotedWhereItHoldsWhatEndsAField) {
  EXPECT_EQ(Field("plain text"), "plain text");
  EXPECT_EQ(Field("a,b"), "\"a,b\"");
  EXPECT_EQ(Field("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(Field("two\nlines"), "\"two\nlines\"");
}

TEST(CsvField, IsNoFormulaAndGivesItsTextBackWithoutOneApostrophe) {
  for (const std::string text : {"=1+2", "+1", "-x", "@f", "\tx", "\rx", "'quoted"}) {
    std::string field = Field(text);
    if (field.front() == '"') field = field.substr(1, field.size() - 2);
    EXPECT_EQ(field, "'" + text);
  }
  EXPECT_EQ(Field("a=1"), "a=1");
  EXPECT_EQ(Field("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
}

}  // namespace
}  // namespace opscope
