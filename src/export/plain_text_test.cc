// SPDX-License-Identifier: Apache-2.0
#include "export/plain_text.h"

#include <gtest/gtest.h>

#include <random>

#include "base/text.h"

namespace opscope {
namespace {

std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\\x" && i + 4 <= text.size() && std::isxdigit(text[i + 2]) &&
        std::isxdigit(text[i + 3])) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 2, 2)), nullptr, 16));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

TEST(PlainText, EscapesBytesThatAreNoUnicode) {
  EXPECT_EQ(PlainText("aten::add"), "aten::add");
  EXPECT_EQ(PlainText("\xc3\xa9 \xff"), "\xc3\xa9 \\xff");
  EXPECT_EQ(PlainText(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(PlainText("C:\\xylo \\x41"), "C:\\xylo \\x5cx41");
}

TEST(PlainText, IsUnicodeAndGivesTheTextBack) {
  std::mt19937 random(20);
  const std::string_view pieces[] = {"\\", "x", "4", "f", "\xff", "\xc3\xa9", "\xc3", "z", {"\0", 1}};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (size_t k = random() % 12; k > 0; --k)
      text += pieces[random() % std::size(pieces)];
    const std::string plain = PlainText(text);
    ASSERT_TRUE(IsUtf8(plain));
    ASSERT_EQ(Unescaped(plain), text);
  }
}

TEST(PartsOfFrame, AreFileLineAndFunction) {
  const FrameParts parts = PartsOfFrame("dir (1)/train.py(12): step");
  EXPECT_EQ(parts.function, "step");
  EXPECT_EQ(parts.file, "dir (1)/train.py");
  EXPECT_EQ(parts.line, 12);
}

TEST(PartsOfFrame, OfOtherTextsAreTheWholeText) {
  for (const std::string_view text :
       {"", "aten::add", "f(x): y", "f(0): y", "(12): y", "f(12):y", "f(99999999999999999999): y"}) {
    EXPECT_EQ(PartsOfFrame(text).function, text);
    EXPECT_EQ(PartsOfFrame(text).line, 0);
  }
}

}  // namespace
}  // namespace opscope
