// SPDX-License-Identifier: Apache-2.0
#include "base/in_order.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/thread_team.h"

namespace opscope {
namespace {

TEST(InOrder, UsesWhatIsFinishedOutOfOrderInItsOrder) {
  InOrder order(4);
  std::vector<size_t> used;
  const auto use = [&](size_t index) { used.push_back(index); };
  order.Finished(2, use);
  order.Finished(1, use);
  EXPECT_TRUE(used.empty());
  order.Finished(0, use);
  EXPECT_EQ(used, (std::vector<size_t>{0, 1, 2}));
  order.Finished(3, use);
  EXPECT_EQ(used, (std::vector<size_t>{0, 1, 2, 3}));
}

TEST(InOrder, UsesAllThatSeveralThreadsFinish) {
  for (int round = 0; round < 50; ++round) {
    constexpr size_t kCount = 200;
    InOrder order(kCount);
    std::vector<size_t> used;
    ThreadTeam team(4);
    team.ForEach(kCount, [&](size_t index, size_t) { order.Finished(index, [&](size_t i) { used.push_back(i); }); });
    std::vector<size_t> expected(kCount);
    std::iota(expected.begin(), expected.end(), size_t{0});
    ASSERT_EQ(used, expected);
  }
}

}  // namespace
}  // namespace opscope
