// SPDX-License-Identifier: Apache-2.0
#include "base/escaped_text.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cwchar>
#include <random>
#include <string>
#include <vector>

#include "base/lines_for_test.h"
#include "base/text.h"

namespace opscope {
namespace {

std::string Utf8(uint32_t code) {
  std::string text;
  AppendCodePoint(&text, code);
  return text;
}

TEST(EscapedText, EscapesWhatATerminalObeys) {
  EXPECT_EQ(EscapedText("a\x1b[31mb\r\n\x7f"), "a\\x1b[31mb\\x0d\\x0a\\x7f");
  EXPECT_EQ(EscapedText(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(EscapedText(Utf8(0x9b) + "31m"), "\\u009b31m") << "the one-character form of ESC [";
}

TEST(EscapedText, EscapesMarksOfDirectionAndWhatCannotBeSeen) {
  for (const uint32_t code :
       {0x61cu, 0x200bu, 0x200eu, 0x200fu, 0x2028u, 0x202au, 0x202eu, 0x2066u, 0x2069u, 0xfeffu}) {
    const std::string shown = EscapedText("a" + Utf8(code) + "b");
    EXPECT_EQ(shown.find_first_not_of("abcdefu0123456789\\"), std::string::npos) << shown;
    EXPECT_EQ(shown.size(), 8u) << shown;
  }
  EXPECT_EQ(EscapedText(Utf8(0xe0041)), "\\U000e0041");
}

TEST(EscapedText, EscapesBytesThatAreNoText) {
  EXPECT_EQ(EscapedText("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(EscapedText("\xe2\x80"), "\\xe2\\x80") << "a mark that was cut";
}

TEST(EscapedText, LeavesLettersOfAllScripts) {
  const std::string text = "aten::add caf\u00e9 \u0434\u0430 \u65e5\u672c \u05d0\u05d1 \U0001f600 \u2713";
  EXPECT_EQ(EscapedText(text), text);
}

TEST(EscapedText, CountsColumnsAsTheSystemDoes) {
  const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) GTEST_SKIP() << "no locale C.UTF-8 here";
  const locale_t before = uselocale(utf8);
  for (uint32_t code = 0x20; code < 0x30000; ++code) {
    // Letters, signs, kana, ideographs, Hangul, full-width forms, ideographs of plane 2.
    const bool is_asked = code < 0x7f || (code >= 0xa1 && code < 0x600 && code != 0xad) ||
                          (code >= 0x2500 && code < 0x2600) || (code >= 0x3041 && code <= 0x3096) ||
                          (code >= 0x30a0 && code <= 0x30ff) || (code >= 0x4e00 && code <= 0x9fff) ||
                          (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xff01 && code <= 0xffdc) || code >= 0x20000;
    const int columns = is_asked ? wcwidth(static_cast<wchar_t>(code)) : -1;
    if (columns < 0) continue;
    EXPECT_EQ(DisplayWidth(Utf8(code)), static_cast<size_t>(columns)) << std::hex << code;
  }
  uselocale(before);
  freelocale(utf8);
}

TEST(EscapedText, CutsTheMiddleAtCharactersAndColumns) {
  EXPECT_EQ(ElideToWidth("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(ElideToWidth("abcdefghij", 9), "abc...hij");
  EXPECT_EQ(ElideToWidth("\u65e5\u672c\u8a9e\u306e\u540d\u524d", 9), "\u65e5...\u524d") << "no half characters";
  EXPECT_EQ(ElideToWidth("abcdefghij", 2), "ab");
}

TEST(EscapedText, FoldsLinesBelowWhereTheirValueBegins) {
  EXPECT_EQ(WrapLines("Short  a\nOptions    one, two, three, four\n", 24),
            "Short  a\nOptions    one, two,\n           three, four\n");
  EXPECT_EQ(WrapLines("a line of some words\n", 12), "a line of\n  some words\n");
  EXPECT_EQ(WrapLines("  abcdefghijklmnop", 10), "  abcdefgh\n    ijklmn\n    op\n") << "where no word ends";
  EXPECT_EQ(WrapLines("any length\n", 0), "any length\n");
}

// Minutes if each line of the result looked at the whole rest.
TEST(EscapedText, FoldsALineOfMegabytesInLinearTime) {
  const size_t lines = 300'000;  // the first has 16 letters, the others are 2 further in
  EXPECT_EQ(WrapLines(std::string(16 + 14 * (lines - 1), 'a'), 16).size(), 17 * lines);
}

TEST(EscapedText, FoldsEveryTextIntoTheWidthAndLosesNothing) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string text, kept;
    for (size_t i = random() % 120; i > 0; --i) {
      const std::string piece[] = {"a", "b", " ", "  ", ",", "\u65e5", "/", "\n"};
      text += piece[random() % std::size(piece)];
    }
    const size_t width = 2 + random() % 30;
    const std::string folded = WrapLines(text, width);
    for (const std::string& line : LinesOf(folded))
      EXPECT_LE(DisplayWidth(line), width) << "round " << round << ": " << text;
    const auto letters = [](std::string all) {
      std::erase_if(all, [](char c) { return c == ' ' || c == '\n'; });
      return all;
    };
    EXPECT_EQ(letters(folded), letters(text)) << "round " << round;
  }
}

}  // namespace
}  // namespace opscope
