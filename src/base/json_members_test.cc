// SPDX-License-Identifier: Apache-2.0
#include "base/json_members.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>
#include <string>

namespace opscope {
namespace {

TEST(JsonMembers, AreWhatAnotherParserTakesForAnObject) {
  const std::string whole[] = {R"("a": 1)",
                               R"("a":[1, {"b": -0.0e+3}, [], {}], "c\n\u00e9": "\"}" , "d": null)",
                               R"("x": {"y": {"z": [true, false]}}, "": "")",
                               R"([1, 2])",
                               R"("text")",
                               "12",
                               ""};
  const std::string_view bytes = "{}[]\":,\\ 019.-+eEtrufalsn\x01\xc3\xa9\t";
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  simdjson::dom::parser parser;
  size_t right = 0, wrong = 0;
  for (int i = 0; i < 40'000; ++i) {
    std::string text = whole[random() % std::size(whole)];
    for (size_t edits = random() % 3; edits > 0; --edits) {
      const size_t at = random() % (text.size() + 1);
      if (random() % 3 != 0) text.insert(at, 1, bytes[random() % bytes.size()]);
      if (random() % 3 != 0 && at < text.size()) text.erase(at, 1);
    }
    const bool is_value = parser.parse(text).error() == simdjson::SUCCESS;
    EXPECT_EQ(IsJsonValue(text), is_value) << text;
    const bool are_members = parser.parse("{" + text + "}").error() == simdjson::SUCCESS &&
                             text.find_first_not_of(" \t") != std::string::npos;  // those of {} are none
    EXPECT_EQ(AreJsonMembers(text), are_members) << text;
    (is_value || are_members ? right : wrong) += 1;
  }
  EXPECT_GT(right, 5000u);
  EXPECT_GT(wrong, 5000u);
}

TEST(JsonMembers, MayHoldSurrogatesThatStandForBytes) {
  EXPECT_TRUE(AreJsonMembers(R"("a": "\udc80")"));
  EXPECT_FALSE(AreJsonMembers(R"("a": "\udc8")"));
  EXPECT_FALSE(AreJsonMembers("\"a\": \"\x80\""));
}

TEST(JsonMembers, AreRefusedWhenTheyWouldCloseWhatIsAroundThem) {
  EXPECT_FALSE(AreJsonMembers(R"("a": 1}, {"b": 2)"));
  EXPECT_FALSE(AreJsonMembers(R"("a": 1}}, {"ph": "X", "args": {"b": 2)"));
  EXPECT_FALSE(IsJsonValue("1, \"traceEvents\": []"));
}

TEST(JsonMembers, AreReadSomeHundredDeepAndNotDeeper) {
  const auto nested = [](size_t depth) { return "\"a\": " + std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(AreJsonMembers(nested(512)));
  EXPECT_FALSE(AreJsonMembers(nested(513)));
  EXPECT_FALSE(AreJsonMembers(nested(100'000)));
}

}  // namespace
}  // namespace opscope
