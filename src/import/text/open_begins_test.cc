// SPDX-License-Identifier: Apache-2.0
#include "import/text/open_begins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace opscope {
namespace {

// Closes by the rule, word by word.
class SlowBegins {
 public:
  void Open(uint32_t row, StringId name) { open_.emplace_back(row, name); }
  std::optional<uint32_t> CloseNewest(StringId name) {
    const auto found =
        std::find_if(open_.rbegin(), open_.rend(), [&](const auto& begin) { return begin.second == name; });
    if (found == open_.rend()) return std::nullopt;
    const uint32_t row = found->first;
    open_.erase(std::next(found).base());
    return row;
  }
  uint32_t CloseNewest() {
    const uint32_t row = open_.back().first;
    open_.pop_back();
    return row;
  }
  std::vector<uint32_t> rows() const {
    std::vector<uint32_t> rows;
    for (const auto& begin : open_)
      rows.push_back(begin.first);
    return rows;
  }

 private:
  std::vector<std::pair<uint32_t, StringId>> open_;
};

TEST(OpenBegins, CloseTheNewestOfTheNameAsASearchFromTheNewestWould) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  OpenBegins begins;
  for (int round = 0; round < 200; ++round) {
    begins.Clear();
    SlowBegins expected;
    const uint64_t names = 1 + random() % 80;
    for (uint32_t row = 0; row < 500; ++row) {
      const StringId name{static_cast<uint32_t>(random() % names)};
      // Opens more than it closes up to the middle, then the other way round.
      if (random() % 4 < (row < 250 ? 3u : 1u)) {
        begins.Open(row, name);
        expected.Open(row, name);
      } else if (random() % 8 == 0 && !begins.empty()) {
        ASSERT_EQ(begins.CloseNewest(), expected.CloseNewest());
      } else {
        ASSERT_EQ(begins.CloseNewest(name), expected.CloseNewest(name));
      }
      ASSERT_EQ(begins.size(), expected.rows().size());
    }
    std::vector<uint32_t> rows;
    begins.ForEach([&](uint32_t row) { rows.push_back(row); });
    ASSERT_EQ(rows, expected.rows());
  }
}

// A search from the newest would compare 20,000,000,000 names.
TEST(OpenBegins, CloseDistinctNamesInTheOrderInWhichTheyOpened) {
  constexpr uint32_t kBegins = 200'000;
  OpenBegins begins;
  for (uint32_t row = 0; row < kBegins; ++row)
    begins.Open(row, StringId{row});
  for (uint32_t row = 0; row < kBegins; ++row)
    ASSERT_EQ(begins.CloseNewest(StringId{row}), row);
  EXPECT_TRUE(begins.empty());
}

}  // namespace
}  // namespace opscope
