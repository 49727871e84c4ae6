// SPDX-License-Identifier: Apache-2.0
#include "base/lazy_column.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace opscope {
namespace {

enum class Id : uint32_t { kNone = 0xffffffff };
using Ids = LazyColumn<Id, Id::kNone>;
using Numbers = LazyColumn<int64_t, 0>;

TEST(LazyColumn, HoldsItsBlankWithoutMemory) {
  ConstantBytes constants;
  Ids ids;
  ids.grow(1000);
  ids.resize_unset(1000);
  ids.Set(7, Id::kNone);
  EXPECT_TRUE(ids.is_unallocated());
  EXPECT_EQ(ids.memory_bytes(), 0u);
  EXPECT_TRUE(ids.rows().empty());
  ASSERT_EQ(ids.view(&constants).size(), 1000u);
  for (const Id id : ids.view(&constants))
    ASSERT_EQ(id, Id::kNone);
}

TEST(LazyColumn, KeepsTheBlankOfOtherRowsWhenOneIsSet) {
  ConstantBytes constants;
  Numbers numbers;
  numbers.resize_unset(100);
  numbers.Set(41, -5);
  EXPECT_FALSE(numbers.is_unallocated());
  for (size_t row = 0; row < 100; ++row)
    EXPECT_EQ(numbers.view(&constants)[row], row == 41 ? -5 : 0);
  numbers.Set(41, 0);
  EXPECT_EQ(numbers[41], 0);
}

TEST(LazyColumn, GrowsWithAndWithoutValues) {
  ConstantBytes constants;
  Numbers numbers;
  for (size_t row = 0; row < 100'000; ++row) {
    if (row % 1000 == 0) numbers.grow(row + 1000);
    numbers.resize_unset(row + 1);
    numbers.Set(row, row < 50'000 ? 0 : static_cast<int64_t>(row));
  }
  for (size_t row = 0; row < 100'000; ++row)
    ASSERT_EQ(numbers.view(&constants)[row], row < 50'000 ? 0 : static_cast<int64_t>(row));
}

TEST(LazyColumn, TakesThePlaceThatItWasLent) {
  std::vector<int64_t> place(64, 77);
  ConstantBytes constants;
  Numbers numbers;
  numbers.Borrow(place.data(), place.size());
  numbers.resize_unset(10);
  EXPECT_EQ(place[3], 77);
  numbers.Set(3, 1);
  EXPECT_EQ(numbers.view(&constants).data(), place.data());
  EXPECT_EQ(place[2], 0);
  EXPECT_EQ(place[3], 1);
  EXPECT_EQ(place[10], 77);
}

TEST(LazyColumn, LeavesThePlaceThatItWasLentWhenThatIsTooSmall) {
  std::vector<int64_t> place(64, 77);
  Numbers numbers;
  numbers.Borrow(place.data(), 32);
  numbers.grow(48);
  numbers.resize_unset(48);
  numbers.Set(40, 1);
  EXPECT_EQ(numbers[40], 1);
  EXPECT_EQ(numbers[39], 0);
  for (const int64_t untouched : place)
    EXPECT_EQ(untouched, 77);
}

TEST(LazyColumn, ThreadsMaySetRowsOfTheirOwn) {
  constexpr size_t kThreads = 4, kRows = 20'000;
  for (int round = 0; round < 20; ++round) {
    ConstantBytes constants;
    Ids ids;
    ids.resize_unset(kThreads * kRows);
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&ids, thread] {
        for (size_t row = thread; row < kThreads * kRows; row += kThreads)
          ids.Set(row, row % 3 == 0 && row > 1000 ? static_cast<Id>(row) : Id::kNone);
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    for (size_t row = 0; row < kThreads * kRows; ++row)
      ASSERT_EQ(ids.view(&constants)[row], row % 3 == 0 && row > 1000 ? static_cast<Id>(row) : Id::kNone) << row;
  }
}

// Children of a program that reads a trace while it forks: what the other threads were in at that moment stays as it
// was for ever.
TEST(LazyColumn, IsFilledInAChildForkedWhileOthersFill) {
  std::atomic<bool> go = true;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&go] {
      while (go) {
        Ids ids;
        ids.resize_unset(1 << 16);
        ids.Set(5, Id{5});
      }
    });
  }
  int status = 0;
  for (int round = 0; round < 50 && status == 0; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);  // a child that waits for ever ends by this signal
      Ids ids;
      ids.resize_unset(10);
      ids.Set(5, Id{5});
      _exit(ids[5] == Id{5} && ids[4] == Id::kNone ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) status = -1;
  }
  go = false;
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace opscope
