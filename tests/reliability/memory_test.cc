// Memory stays under the cap however long it records, with dumps going to a slow disk meanwhile, and with
// threads that come and go. OPSCOPE_SOAK=1: ten minutes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "footprint.h"
#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"
#include "soak.h"

namespace opscope {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int64_t kCap = int64_t{64} << 20;
constexpr int64_t kBeyondTheCap = int64_t{8} << 20;

// A sink of a dump, as slow as a disk of 20 MB/s.
bool WriteSlowly(void* done, uint16_t, const void*, uint64_t bytes) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(bytes * 50));
  return !static_cast<std::atomic<bool>*>(done)->load();
}

TEST(Memory, StaysUnderTheCapAtFullSpeedWithDumpsToASlowDisk) {
  if (kSanitized) GTEST_SKIP() << "the memory is the sanitizer's";
  const auto duration = InFull(milliseconds(600000), milliseconds(4000));
  const int64_t before = ResidentBytes();
  OwnedWindow window = OpenTestWindow({.at_cap = AtCap::kKeepNewest, .max_bytes = static_cast<uint64_t>(kCap)});
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&done] {
      while (!done.load(std::memory_order_relaxed)) {
        OPSCOPE_SCOPE("outer");
        for (int i = 0; i < 1000; ++i)
          OPSCOPE_SCOPE("inner");
      }
    });
  }
  int dumps = 0;
  std::thread dumper([&] {
    while (!done.load(std::memory_order_relaxed)) {
      opscope_window_dump(window.get(), nullptr, WriteSlowly, &done);
      ++dumps;
    }
  });
  int64_t most = 0;
  for (const auto end = steady_clock::now() + duration; steady_clock::now() < end;) {
    most = std::max(most, ResidentBytes() - before);
    std::this_thread::sleep_for(milliseconds(5));
  }
  done = true;
  for (std::thread& thread : threads)
    thread.join();
  dumper.join();
  EXPECT_LE(most, kCap + kBeyondTheCap);
  EXPECT_GT(opscope_window_counts(window.get()).dropped, 0u) << "the cap was never reached";
  std::printf("%lld s, 8 threads, %d dumps at 20 MB/s: RSS %.1f MiB above the beginning at most, the cap is %lld MiB\n",
              static_cast<long long>(duration.count() / 1000), dumps, static_cast<double>(most) / (1 << 20),
              static_cast<long long>(kCap >> 20));
}

TEST(Memory, OfThreadsThatEndedStaysUnderTheCap) {
  // A server with a thread for each request, under a flight recorder.
  const int requests = InFull(20000, 4000);
  const int64_t before = ResidentBytes();
  OwnedWindow window = OpenTestWindow({.at_cap = AtCap::kKeepNewest, .max_bytes = static_cast<uint64_t>(kCap)});
  int64_t most = 0;
  for (int i = 0; i < requests; ++i) {
    std::thread([] { OPSCOPE_SCOPE("request"); }).join();
    if (i % 64 == 0) most = std::max(most, ResidentBytes() - before);
  }
  const WindowCounts counts = opscope_window_counts(window.get());
  EXPECT_LE(counts.bytes, static_cast<uint64_t>(kCap) + kChunkBytes);
  EXPECT_EQ(counts.recorded + counts.dropped, static_cast<uint64_t>(requests));
  if (!kSanitized) {
    EXPECT_LE(most, kCap + kBeyondTheCap);
  }
  const DecodedWindow decoded = CloseAndDecode(window.get());
  std::printf("%d threads of one event: RSS %.1f MiB above the beginning at most, %llu events kept\n", requests,
              static_cast<double>(most) / (1 << 20), static_cast<unsigned long long>(counts.recorded));
}

}  // namespace
}  // namespace opscope
