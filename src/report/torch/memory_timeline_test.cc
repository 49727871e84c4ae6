// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/memory_timeline.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "opscope/torch/memory_timeline_text.h"

namespace opscope {
namespace {

MemoryTimeline TwoBlocks() {
  MemoryTimeline timeline;
  timeline.rows.push_back(
      {.time = {}, .action = MemoryAction::kPreexisting, .category = MemoryCategory::kParameter, .bytes = 8});
  timeline.rows.push_back({.time = {2'000}, .category = MemoryCategory::kInput, .bytes = 4});
  timeline.rows.push_back({.time = {3'000},
                           .action = MemoryAction::kIncrementVersion,
                           .category = MemoryCategory::kInput,
                           .next_category = MemoryCategory::kActivation,
                           .bytes = 4});
  timeline.rows.push_back(
      {.time = {9'000}, .action = MemoryAction::kDestroy, .category = MemoryCategory::kActivation, .bytes = 4});
  return timeline;
}

TEST(MemoryTimelineReport, TimesAndBytesAreTorchsText) {
  EXPECT_EQ(MemoryTimelineJson(SumByCategory(TwoBlocks(), {}, 0)),
            "[[2, 2, 3, 9], [[0, 8, 0, 0, 0, 0, 0, 0, 0], [0, 8, 0, 4, 0, 0, 0, 0, 0], [0, 8, 0, 0, 0, 4, 0, 0, 0], "
            "[0, 8, 0, 0, 0, 0, 0, 0, 0]]]");
  EXPECT_EQ(MemoryTimelineJson({}), "[[], []]");
}

TEST(MemoryTimelineReport, EventsAreTorchsTextAndAWriteIsTwo) {
  EXPECT_EQ(MemoryTimelineRawJson(TwoBlocks(), {}, 1'000'000),
            "[[-1, 1, 8, 0], [1002000, 2, 4, 2], [1003000, 3, -4, 2], [1003000, 3, 4, 4], [1009000, 4, -4, 4]]");
  EXPECT_EQ(MemoryTimelineRawJson(TwoBlocks(), {.type = 1, .index = 0}, 0), "[]");
}

TEST(MemoryTimelineReport, ThePageDrawsWhatThereIsAndTellsTheLargestTotal) {
  const std::string page = MemoryTimelineHtml(SumByCategory(TwoBlocks(), {}, 0), "a < b & c");
  EXPECT_NE(page.find("<h1>a &lt; b &amp; c</h1>"), std::string::npos);
  EXPECT_NE(page.find("Largest total: 12 B"), std::string::npos);
  EXPECT_NE(page.find("<polygon fill=\"darkgreen\""), std::string::npos);
  EXPECT_EQ(page.find("<polygon fill=\"mediumblue\""), std::string::npos) << "there was no gradient";
}

// The picture has a bounded number of corners, and the one large moment among many is in it.
TEST(MemoryTimelineReport, ThePageOfManyEventsIsSmallAndKeepsThePeak) {
  MemoryByCategory sums;
  for (int64_t i = 0; i < 200'000; ++i) {
    sums.times_us.push_back(i);
    sums.bytes.push_back({});
    sums.bytes.back()[0] = i == 77'777 ? 1 << 20 : 1;
  }
  const std::string page = MemoryTimelineHtml(sums, "many");
  EXPECT_LT(page.size(), size_t{300'000});
  EXPECT_NE(page.find(",20.00"), std::string::npos) << "the upper edge of the picture";
}

TEST(MemoryTimelineReport, ThePageOfNothingIsAPage) {
  const std::string page = MemoryTimelineHtml({}, "none");
  EXPECT_NE(page.find("</html>"), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
}

TEST(MemoryTimelineReport, ThePageSaturatesTotalsOfAnyBytes) {
  MemoryByCategory sums;
  sums.times_us = {0, 1, 2};
  sums.bytes.resize(3);
  sums.bytes[0].fill(INT64_MAX);
  EXPECT_NE(MemoryTimelineHtml(sums, "large").find("Largest total: 8388608.00 TiB"), std::string::npos);
  sums.bytes[0].fill(INT64_MIN);  // all below 0, so that the height is that of 1 byte
  EXPECT_NE(MemoryTimelineHtml(sums, "negative").find("Largest total: 0 B"), std::string::npos);
}

}  // namespace
}  // namespace opscope
