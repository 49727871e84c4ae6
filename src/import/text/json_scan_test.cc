// The scanner agrees with simdjson and tells cuts from errors; numbers are exact.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/json_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>
#include <string>

#include "import/text/json_number.h"

namespace opscope {
namespace {

JsonValue Number(std::string_view text) {
  JsonValue value;
  value.kind = JsonValue::Kind::kNumber;
  value.text = text;
  return value;
}

bool ScannerAccepts(const std::string& text) {
  JsonScanner scanner(text);
  JsonValue value;
  return scanner.ReadValue(&value) && scanner.Peek() == '\0' && scanner.at_end();
}

// One random JSON text, sometimes with a byte changed.
std::string RandomJson(std::mt19937* random, int depth) {
  const auto pick = [&](unsigned n) { return static_cast<int>((*random)() % n); };
  static const char* const kScalars[] = {"0",    "-1",   "12.5e-3",         "true",     "false",
                                         "null", "\"\"", "\"a\\n\\u00e9\"", "\"{[,:\"", "1E+9"};
  if (depth == 0 || pick(3) == 0) return kScalars[pick(10)];
  const bool object = pick(2) == 0;
  std::string text(1, object ? '{' : '[');
  const int count = pick(4);
  for (int i = 0; i < count; ++i) {
    if (i != 0) text += pick(4) == 0 ? " ,\n  " : ", ";
    if (object) text += "\"k" + std::to_string(i) + "\": ";
    text += RandomJson(random, depth - 1);
  }
  return text + (object ? '}' : ']');
}

TEST(JsonScanner, AgreesWithSimdjsonOnRandomTexts) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  simdjson::dom::parser parser;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = RandomJson(&random, 4);
    if (random() % 2 == 0) text[random() % text.size()] = "{}[],:\"1e.-nt \\"[random() % 14];
    const bool valid = parser.parse(text).error() == simdjson::SUCCESS;
    if (valid) {
      ASSERT_TRUE(ScannerAccepts(text)) << text;
    } else if (ScannerAccepts(text)) {
      // Escapes that do not exist, line breaks in strings and stray commas are read all the same; nothing else is.
      std::string bare = text;
      std::erase_if(bare, [](char c) { return c == ' ' || c == '\n'; });
      ASSERT_THAT(text + bare,
                  testing::AnyOf(testing::HasSubstr("\\"), testing::HasSubstr("\n"), testing::HasSubstr(",]"),
                                 testing::HasSubstr(",}"), testing::HasSubstr("[,")))
          << text;
    }
  }
}

TEST(JsonScanner, TellsACutFromASyntaxError) {
  for (const char* text : {"{\"a\": tru", "[1, 2", "\"abc", "{\"a\"", "-", "[1.", "nul"}) {
    EXPECT_FALSE(ScannerAccepts(text));
    JsonScanner scanner(text);
    JsonValue value;
    EXPECT_FALSE(scanner.ReadValue(&value)) << text;
    EXPECT_TRUE(scanner.truncated()) << text;
    EXPECT_EQ(scanner.failed_offset(), std::string_view(text).size()) << text;
  }
  JsonScanner scanner("[1, }");
  JsonValue value;
  EXPECT_FALSE(scanner.ReadValue(&value));
  EXPECT_FALSE(scanner.truncated());
  EXPECT_EQ(scanner.failed_offset(), 4u);
}

TEST(JsonNumber, ReadsMicrosecondsExactly) {
  EXPECT_EQ(ParseMicroseconds(Number("1661938466265032.417")), 1661938466265032417);
  EXPECT_EQ(ParseMicroseconds(Number("0.0005")), 1);
  EXPECT_EQ(ParseMicroseconds(Number("0.00049999")), 0);
  EXPECT_EQ(ParseMicroseconds(Number("-2.5")), -2500);
  EXPECT_EQ(ParseMicroseconds(Number("12.5e2")), 1250000);
  EXPECT_EQ(ParseMicroseconds(Number("125e-4")), 13);
  EXPECT_EQ(ParseMicroseconds(Number("0.000001e6")), 1000);
  EXPECT_EQ(ParseMicroseconds(Number("4000000000000000")), kLatestNs);
  EXPECT_EQ(ParseMicroseconds(Number("4000000000000000.001")), std::nullopt);
  EXPECT_EQ(ParseMicroseconds(Number("1e400")), std::nullopt);
  EXPECT_EQ(ParseMicroseconds(Number("0e400")), 0);
  EXPECT_EQ(ParseMicroseconds(Number("")), std::nullopt);
}

TEST(JsonNumber, RefusesTimesThatWouldWrap) {
  for (const char* text : {"18446744073709552", "1.8446744073709552e+16", "18446744073709551617", "1844674407370955162",
                           "4000000000000000.0005", "-18446744073709552", "3999999999999999999.9"})
    EXPECT_EQ(ParseMicroseconds(Number(text)), std::nullopt) << text;
  EXPECT_EQ(ParseMicroseconds(Number("4000000000000000.0004")), kLatestNs);
  EXPECT_EQ(ParseMicroseconds(Number("-4e15")), -kLatestNs);
}

}  // namespace
}  // namespace opscope
