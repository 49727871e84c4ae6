// SPDX-License-Identifier: Apache-2.0
#include "analysis/line_packer.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace opscope {
namespace {

TEST(LinePacker, ARangeTakesTheFirstLineThatIsFreeAtItsBegin) {
  LinePacker lines(8);
  EXPECT_EQ(lines.Place(0, 10), 0u);
  EXPECT_EQ(lines.Place(2, 5), 1u);
  EXPECT_EQ(lines.Place(5, 8), 1u) << "a range ends before the one that begins at its end";
  EXPECT_EQ(lines.Place(6, 7), 2u);
  EXPECT_EQ(lines.count(), 3u);
  lines.Clear();
  EXPECT_EQ(lines.count(), 0u);
  EXPECT_EQ(lines.Place(6, 7), 0u);
}

TEST(LinePacker, RangesBeyondTheMostLinesShareTheLastOne) {
  LinePacker lines(2);
  EXPECT_EQ(lines.Place(0, 10), 0u);
  EXPECT_EQ(lines.Place(1, 20), 1u);
  EXPECT_EQ(lines.Place(2, 3), 1u);
  EXPECT_EQ(lines.Place(10, 11), 0u);
  EXPECT_EQ(lines.Place(15, INT64_MAX), 0u);
  EXPECT_EQ(lines.Place(16, 17), 1u);
  EXPECT_EQ(lines.count(), 2u);
}

}  // namespace
}  // namespace opscope
