// SPDX-License-Identifier: Apache-2.0
#include "sql/query_watch.h"

#include <gtest/gtest.h>

#include "base/no_threads_for_test.h"

namespace opscope {
namespace {

using namespace std::chrono_literals;

QueryWatch::Limits WithTime(std::chrono::nanoseconds time, std::atomic<int>* interrupts) {
  return {.time = time, .memory = 0, .interrupt = [interrupts] { ++*interrupts; }, .is_stuck = {}};
}

TEST(QueryWatch, InterruptsAtTheLimitAndNotBefore) {
  std::atomic<int> interrupts = 0;
  {
    QueryWatch watch(WithTime(1h, &interrupts));
    ASSERT_TRUE(watch.Start().ok());
    std::this_thread::sleep_for(60ms);
    EXPECT_EQ(watch.reason(), QueryWatch::kNone);
  }
  EXPECT_EQ(interrupts, 0);
  QueryWatch watch(WithTime(1ms, &interrupts));
  ASSERT_TRUE(watch.Start().ok());
  while (interrupts == 0)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(watch.reason(), QueryWatch::kTime);
}

TEST(QueryWatch, SaysThatThereIsNoThreadToWatch) {
  const NoThreads none;
  std::atomic<int> interrupts = 0;
  QueryWatch watch(WithTime(1ms, &interrupts));
  const Status started = watch.Start();
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().message, "no thread could be started: Resource temporarily unavailable");
}

}  // namespace
}  // namespace opscope
