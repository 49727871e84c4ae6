// SPDX-License-Identifier: Apache-2.0
#include "job/shared_reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opscope {
namespace {

using testing::ElementsAre;

TEST(SharedReasons, ThatDifferInTheirNumbersAreOneWithTheSums) {
  SharedReasons reasons;
  reasons.Add(3, "3 of 10 events were dropped");
  reasons.Add(0, "12 spans cross others");
  reasons.Add(1, "4 of 20 events were dropped");
  reasons.Add(2, "3 spans cross others");
  reasons.Add(2, "12 clocks differ");
  EXPECT_THAT(reasons.Texts(), ElementsAre("rank 1, 3: 7 of 30 events were dropped", "rank 0, 2: 15 spans cross others",
                                           "rank 2: 12 clocks differ"));
}

TEST(SharedReasons, WithoutNumbersKeepTheirText) {
  SharedReasons reasons;
  reasons.Add(5, "of an unknown clock");
  reasons.Add(5, "of an unknown clock");
  reasons.Add(5, "7 of them");
  EXPECT_THAT(reasons.Texts(), ElementsAre("rank 5: of an unknown clock", "rank 5: 7 of them"));
}

TEST(SharedReasons, AndTheirRanksAreBounded) {
  SharedReasons reasons;
  for (int64_t i = 0; i < 100; ++i) {
    reasons.Add(i, "same");
    reasons.Add(0, "other " + std::to_string(i));
  }
  EXPECT_EQ(reasons.Texts().size(), 20u);
  EXPECT_THAT(reasons.Texts()[0], testing::EndsWith(", 19 and 80 more: same"));
}

}  // namespace
}  // namespace opscope
