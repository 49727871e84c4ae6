// Letters of several alphabets in both cases, and bytes that are no text.
// SPDX-License-Identifier: Apache-2.0
#include "base/fold_case.h"

#include <gtest/gtest.h>

namespace opscope {
namespace {

std::string Folded(std::string_view text) {
  std::string folded = "before";
  FoldCase(text, &folded);
  return folded;
}

TEST(FoldCase, MakesCapitalLettersSmall) {
  EXPECT_EQ(Folded("aten::AddMM_[1]"), "aten::addmm_[1]");
  EXPECT_EQ(Folded("GRÖSSE ÀÞ×÷ß ŠŒŸ"), "grösse àþ×÷ß šœŸ");
  EXPECT_EQ(Folded("ΑΩΣς ЁЖЯ Ա Ａ"), "αωσς ёжя ա ａ");
  EXPECT_EQ(Folded("時間 \U0001F600"), "時間 \U0001F600");
}

TEST(FoldCase, LeavesSmallLettersAndOtherBytes) {
  for (const std::string_view text : {"", "größe šœ αω ёжя", "\xff\xC3", "a\xE2\x82", "\xED\xA0\x80"})
    EXPECT_EQ(Folded(text), text);
  EXPECT_EQ(Folded("\xC3"
                   "A"),
            "\xC3"
            "a");
}

TEST(FoldCase, IsIdempotent) {
  for (uint32_t code = 0; code < 0x12000; ++code)
    EXPECT_EQ(FoldCodePoint(FoldCodePoint(code)), FoldCodePoint(code)) << code;
}

}  // namespace
}  // namespace opscope
