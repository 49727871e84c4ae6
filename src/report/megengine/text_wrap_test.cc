// What Python's textwrap.wrap(text, width=30) answers.
// SPDX-License-Identifier: Apache-2.0
#include "report/megengine/text_wrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TextWrap, CutsWordsThatAreLongerThanALine) {
  EXPECT_THAT(WrapText("backward.ConvolutionBackwardFilterV2", 30),
              ElementsAre("backward.ConvolutionBackwardFi", "lterV2"));
  EXPECT_THAT(WrapText("123456789012345678901234567890", 30), ElementsAre("123456789012345678901234567890"));
}

TEST(TextWrap, BreaksAtBlanksAndLeavesThemOut) {
  EXPECT_THAT(WrapText("aaa bbb ccc", 7), ElementsAre("aaa bbb", "ccc"));
  EXPECT_THAT(WrapText(" a\tb\nc ", 30), ElementsAre(" a      b c"));
  EXPECT_THAT(WrapText("", 30), IsEmpty());
  EXPECT_THAT(WrapText("   ", 30), IsEmpty());
}

TEST(TextWrap, KeepsTheBlankBeforeAWordThatNoRoomIsLeftFor) {
  EXPECT_THAT(WrapText("aaa bbbbbb", 4), ElementsAre("aaa ", "bbbb", "bb"));
}

TEST(TextWrap, BreaksBehindHyphensBetweenLetters) {
  EXPECT_THAT(WrapText("goof-ball", 6), ElementsAre("goof-", "ball"));
  EXPECT_THAT(WrapText("a-1 b2-c3", 5), ElementsAre("a-1", "b2-c3"));
  EXPECT_THAT(WrapText("one--two", 6), ElementsAre("one--", "two"));
  EXPECT_THAT(WrapText("--------", 6), ElementsAre("------", "--"));
  EXPECT_THAT(WrapText("12-34567890", 6), ElementsAre("12-", "345678", "90"));
}

TEST(TextWrap, CountsCharactersNotBytes) {
  EXPECT_THAT(WrapText("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 3), ElementsAre("\xc3\xa4\xc3\xb6\xc3\xbc", "\xc3\x9f"));
}

}  // namespace
}  // namespace opscope
