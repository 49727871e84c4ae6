// Threads keep their identity: thousands of short ones, a thousand alive at once, whose numbers in the
// system come again; each event belongs to the thread that issued it. OPSCOPE_SOAK=1: 20,000 threads.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "footprint.h"
#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"
#include "soak.h"

namespace opscope {
namespace {

constexpr int kAlive = 1000;

// The system gives the numbers of this wave anew to the next one, where it lets us ask for that.
void AskForTheSameNumbers(pid_t first) {
  std::ofstream("/proc/sys/kernel/ns_last_pid") << first - 1;
}

// kAlive threads that live at the same time; each says its number before and after it is renamed.
void RunWave(int wave, std::vector<pid_t>* numbers) {
  std::barrier all(kAlive);
  std::vector<std::thread> threads;
  for (int t = 0; t < kAlive; ++t) {
    threads.emplace_back([&, t] {
      const auto number = static_cast<uint64_t>(wave) * kAlive + static_cast<uint64_t>(t);
      (*numbers)[static_cast<size_t>(t)] = static_cast<pid_t>(syscall(SYS_gettid));
      RecordNow(RecordKind::kInstant, "before", number);
      all.arrive_and_wait();
      SetThreadName(("thread " + std::to_string(number)).c_str());
      RecordNow(RecordKind::kInstant, "after", number);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST(Identity, EachEventBelongsToItsThreadHoweverNumbersComeAgain) {
  const int waves = InFull(20, kSanitized ? 1 : 3);
  OwnedWindow window = OpenTestWindow({.max_bytes = uint64_t{16} << 30});
  std::map<pid_t, int> uses;
  std::vector<pid_t> numbers(kAlive);
  for (int wave = 0; wave < waves; ++wave) {
    if (wave > 0) AskForTheSameNumbers(uses.begin()->first);
    RunWave(wave, &numbers);
    for (const pid_t number : numbers)
      ++uses[number];
  }
  const DecodedWindow decoded = CloseAndDecode(window.get());
  std::set<uint64_t> seen;
  for (const auto& [index, thread] : decoded.threads) {
    if (thread.records.empty()) continue;  // the opener
    ASSERT_EQ(thread.records.size(), 2u);
    const uint64_t number = thread.records[0].record.value;
    ASSERT_EQ(thread.records[1].record.value, number);
    ASSERT_EQ(thread.records[0].name, "before");
    ASSERT_EQ(thread.records[1].name, "after");
    ASSERT_EQ(thread.name, "thread " + std::to_string(number));
    ASSERT_TRUE(seen.insert(number).second);
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(waves) * kAlive);
  size_t repeated = 0;
  for (const auto& [number, count] : uses)
    repeated += count > 1;
  std::printf("%d threads, %d at once, %zu numbers of the system used more than once: 0 events mixed\n", waves * kAlive,
              kAlive, repeated);
}

TEST(Identity, ThreadsThatEndedCostNothing) {
  // Each window sees a wave of its own: what the recorder keeps of threads is used again.
  const int waves = InFull(20, kSanitized ? 2 : 6);
  std::vector<pid_t> numbers(kAlive);
  int64_t before = 0;
  for (int wave = 0; wave < waves; ++wave) {
    if (wave == waves / 2) before = ResidentBytes();
    OwnedWindow window = OpenTestWindow();
    RunWave(wave, &numbers);
    EXPECT_EQ(opscope_window_counts(window.get()).recorded, 2u * kAlive);
  }
  const int64_t grown = ResidentBytes() - before;
  if (!kSanitized) {
    EXPECT_LT(grown, 4 << 20);
  }
  std::printf("%d threads in %d windows: RSS %+lld KiB in the second half\n", waves * kAlive, waves,
              static_cast<long long>(grown / 1024));
}

}  // namespace
}  // namespace opscope
