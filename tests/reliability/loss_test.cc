// What is lost is counted: numbered events of 64 threads at full speed, at caps small and large; per thread
// what was sent is what is read plus what is counted as dropped, and what is missing is missing in one
// place. OPSCOPE_SOAK=1: a million events per thread, and 30 million at a steady pace under the usual cap.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"
#include "soak.h"

namespace opscope {
namespace {

constexpr int kThreads = 64;

// Numbers of one thread as they are read, without keeping them.
struct Numbers {
  uint64_t first = 0, read = 0, chunks = 0;
  bool without_gap = true;
};

struct Reading {
  std::map<uint32_t, Numbers> threads;
  std::string info;
};

void ReadBlock(void* context, uint16_t type, const void* data, uint64_t bytes) {
  auto* reading = static_cast<Reading*>(context);
  if (type != block_types::kRawChunk) {
    reading->info.assign(static_cast<const char*>(data), bytes);
    return;
  }
  const auto* chunk = static_cast<const ChunkHeader*>(data);
  const auto* records = reinterpret_cast<const Record*>(static_cast<const char*>(data) + chunk->header_bytes);
  const uint32_t count = LoadPublished(chunk).record_count;
  if (count == 0) return;
  Numbers& numbers = reading->threads[chunk->thread_index];
  if (numbers.chunks++ == 0) {
    numbers.first = records[0].value;
    // The mark of the gap stands where the gap is: before the first record that is kept.
    EXPECT_EQ(chunk->recorded_before, numbers.first);
  }
  for (uint32_t i = 0; i < count; ++i)
    numbers.without_gap &= records[i].value == numbers.first + numbers.read + i;
  numbers.read += count;
}

void Issue(uint64_t events) {
  for (uint64_t i = 0; i < events; ++i)
    RecordNow(RecordKind::kInstant, "event", i);
}

struct Total {
  uint64_t read = 0, dropped = 0;
};

Total ExpectAllAccountedFor(const WindowOptions& options, uint64_t events_per_thread) {
  OwnedWindow window = OpenTestWindow(options);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back(Issue, events_per_thread);
  for (std::thread& thread : threads)
    thread.join();
  opscope_window_close(window.get());
  Reading reading;
  opscope_window_read(window.get(), ReadBlock, &reading);
  Total total;
  int busy = 0;
  for (size_t at = reading.info.find("{\"index\":"); at != std::string::npos;
       at = reading.info.find("{\"index\":", at + 1)) {
    const Numbers& numbers = reading.threads[static_cast<uint32_t>(NumberAfter(reading.info, "index", at))];
    const uint64_t recorded = NumberAfter(reading.info, "recorded", at);
    const uint64_t dropped = NumberAfter(reading.info, "dropped", at);
    EXPECT_EQ(numbers.read, recorded);
    EXPECT_TRUE(numbers.without_gap);
    if (recorded + dropped == 0) continue;  // the opener
    EXPECT_EQ(recorded + dropped, events_per_thread);
    ++busy;
    total.read += recorded;
    total.dropped += dropped;
  }
  EXPECT_EQ(busy, kThreads);
  return total;
}

TEST(Loss, IsCountedPerThreadAtEveryCap) {
  const uint64_t events = InFull<uint64_t>(1000000, kSanitized ? 5000 : 30000);
  for (const uint64_t max_bytes : {uint64_t{256} << 10, uint64_t{8} << 20, uint64_t{1} << 30}) {
    for (const AtCap at_cap : {AtCap::kStop, AtCap::kKeepNewest}) {
      const Total total = ExpectAllAccountedFor({.at_cap = at_cap, .max_bytes = max_bytes}, events);
      std::printf("cap %7llu KiB, %s: %d x %llu sent, %llu read, %llu counted as dropped, 0 unaccounted\n",
                  static_cast<unsigned long long>(max_bytes >> 10), at_cap == AtCap::kStop ? "stop" : "keep newest",
                  kThreads, static_cast<unsigned long long>(events), static_cast<unsigned long long>(total.read),
                  static_cast<unsigned long long>(total.dropped));
    }
  }
}

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

TEST(Loss, IsNoneAtAMillionEventsASecondUnderTheUsualCap) {
  const uint64_t milliseconds = InFull<uint64_t>(30000, 1000);
  OwnedWindow window = OpenTestWindow();
  std::thread([&] {
    const int64_t began = NowNs();
    for (uint64_t batch = 0; batch < milliseconds; ++batch) {
      Issue(1000);
      while (NowNs() - began < static_cast<int64_t>(batch) * 1000000) {
        const timespec pause{0, 200000};  // the pace is what is tested
        nanosleep(&pause, nullptr);
      }
    }
  }).join();
  opscope_window_close(window.get());
  const WindowCounts counts = opscope_window_counts(window.get());
  EXPECT_EQ(counts.recorded, milliseconds * 1000);
  EXPECT_EQ(counts.dropped, 0u);
  std::printf("%llu events in %llu s: 0 dropped\n", static_cast<unsigned long long>(counts.recorded),
              static_cast<unsigned long long>(milliseconds / 1000));
}

}  // namespace
}  // namespace opscope
