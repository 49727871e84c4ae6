// SPDX-License-Identifier: Apache-2.0
#include "base/text_interner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace opscope {
namespace {

// Texts of few letters: many come again.
std::vector<std::string> RandomTexts(unsigned seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i)
    texts.push_back(std::to_string(random() % (count / 2 + 1)) + std::string(random() % 3, 'x'));
  return texts;
}

std::vector<uint32_t> NumbersByTheBook(const std::vector<std::string>& texts) {
  std::unordered_map<std::string, uint32_t> number_of;
  std::vector<uint32_t> numbers;
  for (const std::string& text : texts)
    numbers.push_back(number_of.try_emplace(text, static_cast<uint32_t>(number_of.size())).first->second);
  return numbers;
}

TEST(TextInterner, NumbersTextsInTheOrderInWhichTheyFirstCome) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<std::string> texts = RandomTexts(seed, seed * 150);
    const std::vector<uint32_t> expected = NumbersByTheBook(texts);
    TextInterner unique;
    for (size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(unique.Add(texts[i]), expected[i]);
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(unique.Find(texts[i]), expected[i]);
      EXPECT_EQ(unique.text(expected[i]), texts[i]);
    }
    EXPECT_EQ(unique.Find("another"), TextInterner::kNone);
  }
}

TEST(TextInterner, NumbersManyAsOneByOne) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<std::string> texts = RandomTexts(seed, seed * 150);
    const std::vector<uint32_t> expected = NumbersByTheBook(texts);
    TextInterner unique;
    std::vector<uint32_t> numbers;
    for (size_t first = 0; first < texts.size();) {  // in stretches of any length
      const size_t end = std::min(texts.size(), first + seed * seed);
      const std::vector<std::string_view> views(texts.begin() + static_cast<ptrdiff_t>(first),
                                                texts.begin() + static_cast<ptrdiff_t>(end));
      std::vector<uint32_t> tags;
      for (const std::string_view text : views)
        tags.push_back(TextInterner::TagOf(text));
      unique.AddAll({views, tags}, &numbers);
      first = end;
    }
    EXPECT_EQ(numbers, expected);
  }
}

TEST(TextInterner, TakesTextsOfAnotherWithTheirTags) {
  TextInterner part, all;
  for (const char* text : {"", "a", "b", "c"})
    part.AddView(text);
  all.AddView("c");
  std::vector<uint32_t> tags, numbers;
  all.AddAll(part.Tagged(&tags), &numbers);
  EXPECT_EQ(numbers, (std::vector<uint32_t>{1, 2, 3, 0}));
  EXPECT_EQ(all.Find("b"), 3u);
}

TEST(TextInterner, TellsTextsOfOneTagApart) {
  const std::vector<std::string_view> texts{"one", "two", "one", "three"};
  const std::vector<uint32_t> tags(4, 0xffffffff);  // the last place: the search goes on at the first
  TextInterner unique;
  std::vector<uint32_t> numbers;
  unique.AddAll({texts, tags}, &numbers);
  EXPECT_EQ(numbers, (std::vector<uint32_t>{0, 1, 0, 2}));
}

TEST(TextInterner, BeginsAgainAfterClear) {
  TextInterner unique;
  for (int i = 0; i < 1000; ++i)
    unique.Add(std::to_string(i));
  unique.Clear();
  EXPECT_TRUE(unique.empty());
  EXPECT_EQ(unique.Find("7"), TextInterner::kNone);
  EXPECT_EQ(unique.Add("8"), 0u);
}

}  // namespace
}  // namespace opscope
