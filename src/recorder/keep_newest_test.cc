// Many threads under a small cap, policy kKeepNewest: how much is held, and who has how much of it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

constexpr uint64_t kCap = uint64_t{8} << 20;

OwnedWindow OpenCapped() {
  return OpenTestWindow({.at_cap = AtCap::kKeepNewest, .native_threads = NativeThreads::kAttached, .max_bytes = kCap});
}

// Numbered from `first` on.
void Issue(const OwnedWindow& window, uint64_t events, uint64_t first = 0) {
  Stream* stream = StreamIn(window);
  for (uint64_t i = first; i < events; ++i)
    RecordNowOn(stream, RecordKind::kInstant, "event", i);
}

// A thread's newest, without a gap, and all counted.
void ExpectNewestOf(const DecodedThread& thread, uint64_t events) {
  ASSERT_EQ(thread.recorded + thread.dropped, events);
  for (size_t i = 0; i < thread.records.size(); ++i)
    ASSERT_EQ(thread.records[i].record.value, thread.dropped + i);
}

class ThreadsUnderTheCap : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, ThreadsUnderTheCap, testing::Values(8, 64, 256));

TEST_P(ThreadsUnderTheCap, HoldEightMebibytesMoreAtMostAndTheNewestOfEach) {
  const int count = GetParam();
  const uint64_t events = 4 * kCap / sizeof(Record) / static_cast<uint64_t>(count);
  OwnedWindow window = OpenCapped();
  std::barrier all_live(count + 1);
  std::atomic<int> going{count};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&] {
      Issue(window, 1);
      all_live.arrive_and_wait();
      Issue(window, events, 1);
      --going;
      all_live.arrive_and_wait();
    });
  }
  all_live.arrive_and_wait();
  uint64_t most = 0;
  do {
    most = std::max(most, opscope_window_counts(window.get()).bytes);
    std::this_thread::yield();
  } while (going.load() != 0);
  all_live.arrive_and_wait();
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_LE(most, kCap + (uint64_t{8} << 20));
  const DecodedWindow decoded = CloseAndDecode(window.get());
  int seen = 0;
  for (const auto& [index, thread] : decoded.threads) {
    if (thread.recorded + thread.dropped == 0) continue;  // the opener
    ExpectNewestOf(thread, events);
    EXPECT_GT(thread.recorded, 0u);
    ++seen;
  }
  EXPECT_EQ(seen, count);
}

TEST(KeepNewest, LateThreadsTakeTheirShareFromOneThatHasFilledTheCap) {
  constexpr int kLate = 15;
  constexpr uint64_t kEvents = kCap / sizeof(Record);
  OwnedWindow window = OpenCapped();
  Issue(window, kEvents);  // and lives on
  std::barrier all_live(kLate);
  std::vector<std::thread> threads;
  for (int t = 0; t < kLate; ++t) {
    threads.emplace_back([&] {
      Issue(window, 1);
      all_live.arrive_and_wait();
      Issue(window, kEvents, 1);
      all_live.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const auto& [index, thread] : CloseAndDecode(window.get()).threads) {
    ExpectNewestOf(thread, kEvents);
    EXPECT_GE(thread.recorded, kEvents / (kLate + 1) / 2) << "less than half of its share";
  }
}

}  // namespace
}  // namespace opscope
