// What Python's re.match() answers of the same.
// SPDX-License-Identifier: Apache-2.0
#include "cli/name_pattern.h"

#include <gtest/gtest.h>

namespace opscope {
namespace {

bool Matches(const std::string& pattern, std::string_view name) {
  const auto matches = CompileNamePattern(pattern);
  EXPECT_TRUE(matches.ok()) << pattern;
  return matches.ok() && matches.value()(name);
}

TEST(NamePattern, MatchesFromTheBeginAndNeedNotReachTheEnd) {
  EXPECT_TRUE(Matches("fc", "fc1.MatrixMul"));
  EXPECT_FALSE(Matches("MatrixMul", "fc1.MatrixMul"));
  EXPECT_TRUE(Matches(".*MatrixMul$", "fc1.MatrixMul"));
  EXPECT_FALSE(Matches("fc$", "fc1"));
  EXPECT_TRUE(Matches("", "anything"));
}

TEST(NamePattern, UnderstandsWhatPythonWritesOtherwise) {
  EXPECT_TRUE(Matches("(?P<layer>fc)\\d", "fc1"));
  EXPECT_TRUE(Matches("(?i)FC", "fc1"));
  EXPECT_FALSE(Matches("FC", "fc1"));
  EXPECT_TRUE(Matches("\\Aa\\Z", "a"));
  EXPECT_FALSE(Matches("a\\Z", "ab"));
  EXPECT_TRUE(Matches("[]a]+$", "]a"));
  EXPECT_TRUE(Matches("[^]a]+$", "bc"));
  EXPECT_TRUE(Matches("[[]", "["));
}

TEST(NamePattern, RefusesWhatIsNoExpression) {
  for (const char* pattern : {"(", "[a", "*", "(?<=a)b"}) {
    const auto matches = CompileNamePattern(pattern);
    ASSERT_FALSE(matches.ok()) << pattern;
    EXPECT_EQ(matches.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(matches.error().message.find(pattern), std::string::npos);
  }
}

TEST(NamePattern, EndsForNamesOfAnyLength) {
  EXPECT_TRUE(Matches("(a|b)*", std::string(1 << 20, 'a')));
}

}  // namespace
}  // namespace opscope
