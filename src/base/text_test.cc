// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace opscope {
namespace {

template <typename Append, typename... Values>
std::string Appended(Append append, Values... values) {
  std::string out = ">";
  append(&out, values...);
  return out.substr(1);
}

TEST(AppendMicros, PrintsThreeDecimalsAlways) {
  EXPECT_EQ(Appended(AppendMicros, 0), "0.000");
  EXPECT_EQ(Appended(AppendMicros, 1234567), "1234.567");
  EXPECT_EQ(Appended(AppendMicros, -5), "-0.005");
  EXPECT_EQ(Appended(AppendMicros, 1000010), "1000.010");
  EXPECT_EQ(Appended(AppendMicros, std::numeric_limits<int64_t>::min()), "-9223372036854775.808");
  EXPECT_EQ(Appended(AppendMicros, std::numeric_limits<int64_t>::max()), "9223372036854775.807");
}

TEST(AppendDouble, ReadsBackAsTheSameNumber) {
  for (const double value : {0.1, 1.0 / 3, 1e300, 5e-324, -2.5, 123456789.125}) {
    EXPECT_EQ(std::strtod(Appended(AppendDouble, value).c_str(), nullptr), value);
  }
  EXPECT_EQ(Appended(AppendDouble, 0.1), "0.1");
}

TEST(AppendJsonString, EscapesWhatJsonForbids) {
  using namespace std::string_view_literals;
  EXPECT_EQ(Appended(AppendJsonString, "a\"b\\c\n\t\x01"sv), "\"a\\\"b\\\\c\\n\\t\\u0001\"");
  EXPECT_EQ(Appended(AppendJsonString, "\0"sv), "\"\\u0000\"");
  EXPECT_EQ(Appended(AppendJsonString, "\xf0\x9f\x98\x80 \xc3\xa9"sv), "\"\xf0\x9f\x98\x80 \xc3\xa9\"");
}

TEST(AppendJsonString, EscapesBytesThatAreNotUtf8Reversibly) {
  EXPECT_EQ(Appended(AppendJsonString, std::string_view("\xff\xc3")), "\"\\udcff\\udcc3\"");
  EXPECT_EQ(Appended(AppendJsonString, std::string_view("\xed\xa0\x80")), "\"\\udced\\udca0\\udc80\"");  // a surrogate
  EXPECT_EQ(Appended(AppendJsonString, std::string_view("\xc0\x80")), "\"\\udcc0\\udc80\"");             // overlong
}

TEST(LowerCase, ChangesAsciiLettersAlone) {
  EXPECT_EQ(LowerCase("Content-Type @[`{ \xc3\x84"), "content-type @[`{ \xc3\x84");
}

TEST(IsDigit, AgreesWithTheDefinitionForAllBytes) {
  for (int c = 0; c < 256; ++c) {
    EXPECT_EQ(IsDigit(static_cast<char>(c)),
              std::string_view("0123456789").find(static_cast<char>(c)) != std::string::npos);
    EXPECT_EQ(IsJsonBlank(static_cast<char>(c)), kJsonBlanks.find(static_cast<char>(c)) != std::string::npos);
  }
}

TEST(Utf8SequenceLength, AgreesWithTheDefinitionForAllTwoByteStarts) {
  for (int first = 0x80; first < 0x100; ++first) {
    for (int second = 0; second < 0x100; ++second) {
      const char text[4] = {static_cast<char>(first), static_cast<char>(second), '\x80', '\x80'};
      const bool continues = second >= 0x80 && second < 0xc0;
      size_t expected = 0;
      if (continues && first >= 0xc2 && first <= 0xdf) expected = 2;
      if (continues && first >= 0xe0 && first <= 0xef) {
        const int code = (first & 15) << 12 | (second & 63) << 6;
        if (code >= 0x800 && (code < 0xd800 || code > 0xdfff)) expected = 3;
      }
      if (continues && first >= 0xf0 && first <= 0xf4) {
        const int code = (first & 7) << 18 | (second & 63) << 12;
        if (code >= 0x10000 && code <= 0x10ffff) expected = 4;
      }
      ASSERT_EQ(Utf8SequenceLength(std::string_view(text, 4)), expected) << first << " " << second;
    }
  }
}

TEST(DecodeUtf8, ReadsWhatAppendCodePointWrote) {
  for (uint32_t code = 0; code <= 0x10ffff; code += code < 0x12000 ? 1 : 241) {
    if (code >= 0xd800 && code <= 0xdfff) continue;  // surrogates have no UTF-8
    ASSERT_EQ(DecodeUtf8(Appended(AppendCodePoint, code)), code);
  }
}

TEST(CopyText, CutsTheTextAndEndsItWithANul) {
  char to[4] = {'x', 'x', 'x', 'x'};
  CopyText("ab", to, 0);
  EXPECT_EQ(to[0], 'x');
  CopyText("ab", to, sizeof(to));
  EXPECT_STREQ(to, "ab");
  CopyText("abcdef", to, sizeof(to));
  EXPECT_STREQ(to, "abc");
}

}  // namespace
}  // namespace opscope
