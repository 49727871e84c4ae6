// SPDX-License-Identifier: Apache-2.0
#include "base/parse_whole.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace opscope {
namespace {

TEST(ParseWhole, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(ParseWhole<int64_t>("-12"), -12);
  EXPECT_EQ(ParseWhole<uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(ParseWhole<double>("2.5"), 2.5);
  for (const std::string_view text : {"", "-", "+1", " 1", "1 ", "1.5", "0x1", "9223372036854775808"})
    EXPECT_EQ(ParseWhole<int64_t>(text), std::nullopt) << text;
  EXPECT_EQ(ParseWhole<uint64_t>("-1"), std::nullopt);
  EXPECT_EQ(ParseWhole<int32_t>("2147483648"), std::nullopt);
  EXPECT_EQ(ParseWhole<int64_t>(std::string_view()), std::nullopt);
}

}  // namespace
}  // namespace opscope
