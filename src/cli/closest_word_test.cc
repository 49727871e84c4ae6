// SPDX-License-Identifier: Apache-2.0
#include "cli/closest_word.h"

#include <gtest/gtest.h>

namespace opscope {
namespace {

TEST(ClosestWord, IsWhatFewestLettersLeadTo) {
  const std::string known[] = {"summary", "steps", "stragglers", "diff"};
  EXPECT_EQ(ClosestWord("sumary", known), "summary");  // one is missing
  EXPECT_EQ(ClosestWord("stepps", known), "steps");    // one too many
  EXPECT_EQ(ClosestWord("stragler", known), "stragglers");
  EXPECT_EQ(ClosestWord("dift", known), "diff");  // another one
  EXPECT_EQ(ClosestWord("diff", known), "diff");
}

TEST(ClosestWord, IsNoneThatNeedsMoreThanAThirdOfTheLetters) {
  const std::string known[] = {"steps", "diff"};
  for (const char* word : {"stop", "trace.json", "di", "", "x"})
    EXPECT_EQ(ClosestWord(word, known), "") << word;
  EXPECT_EQ(ClosestWord("steps", {}), "");
}

}  // namespace
}  // namespace opscope
