// Repeated starting and stopping leaks nothing: no memory, descriptor, thread, mapping or thread key, with one Profiler
// and with a new one each time. A thousand cycles; OPSCOPE_SOAK=1: 10,000.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "footprint.h"
#include "opscope/profiler.h"
#include "soak.h"

namespace opscope {
namespace {

int64_t CpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// Start, 100 events with names of this cycle's own, stop, save.
void Cycle(Profiler* profiler, int number, const std::string& path) {
  ASSERT_TRUE(profiler->Start().ok());
  for (int i = 0; i < 100; ++i)
    Scope scope(("cycle " + std::to_string(number) + " event " + std::to_string(i)).c_str());
  ASSERT_TRUE(profiler->Stop().ok());
  ASSERT_EQ(profiler->recorded(), 100u);
  ASSERT_TRUE(profiler->Save(path).ok());
}

void ExpectNothingStays(const char* what, bool one_object) {
  constexpr int kWarmup = 100;
  const int cycles = InFull(10000, kSanitized ? 200 : 1000);
  const std::string path = testing::TempDir() + "cycles_test_" + std::to_string(getpid()) + ".opscope";
  const auto kept = one_object ? std::make_unique<Profiler>() : nullptr;
  std::vector<int64_t> cpu_ns;
  cpu_ns.reserve(static_cast<size_t>(kWarmup + cycles));
  Footprint before;
  for (int number = 0; number < kWarmup + cycles; ++number) {
    if (number == kWarmup) before = TakeFootprint();
    const int64_t began = CpuNs();
    if (one_object) {
      Cycle(kept.get(), number, path);
    } else {
      Profiler profiler;
      Cycle(&profiler, number, path);
    }
    cpu_ns.push_back(CpuNs() - began);
  }
  const Footprint after = TakeFootprint();
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_EQ(after.threads, before.threads);
  EXPECT_EQ(after.thread_keys_left, before.thread_keys_left);
  const int64_t grown = after.resident_bytes - before.resident_bytes;
  if (!kSanitized) {
    EXPECT_EQ(after.mappings, before.mappings);
    EXPECT_LT(grown, 1 << 20);
  }
  std::nth_element(cpu_ns.begin(), cpu_ns.begin() + cycles / 2, cpu_ns.end());
  const double median_ms = static_cast<double>(cpu_ns[static_cast<size_t>(cycles / 2)]) / 1e6;
  EXPECT_LE(median_ms, kSanitized ? 50 : 5);
  std::printf("%d cycles, %s: RSS %+lld bytes, descriptors, threads, thread keys +0, mappings %+lld, %.2f ms each\n",
              cycles, what, static_cast<long long>(grown), static_cast<long long>(after.mappings - before.mappings),
              median_ms);
  std::remove(path.c_str());
}

TEST(Cycles, OfOneProfilerLeaveNothing) {
  ExpectNothingStays("one Profiler", true);
}

TEST(Cycles, OfNewProfilersLeaveNothing) {
  ExpectNothingStays("a new Profiler each time", false);
}

TEST(Cycles, OfSavingOneRecordingLeaveNothing) {
  const int saves = InFull(20000, kSanitized ? 200 : 4000);
  const std::string path = testing::TempDir() + "cycles_test_" + std::to_string(getpid()) + ".opscope";
  Profiler profiler;
  ASSERT_TRUE(profiler.Start().ok());
  {
    OPSCOPE_SCOPE("scope");
  }
  ASSERT_TRUE(profiler.Stop().ok());
  Footprint before;
  for (int i = 0; i < 100 + saves; ++i) {
    if (i == 100) before = TakeFootprint();
    ASSERT_TRUE(profiler.Save(path).ok());
  }
  const Footprint after = TakeFootprint();
  const int64_t grown = after.resident_bytes - before.resident_bytes;
  EXPECT_EQ(after.descriptors, before.descriptors);
  if (!kSanitized) {
    EXPECT_LT(grown, 1 << 20);
  }
  std::printf("%d saves: RSS %+lld bytes\n", saves, static_cast<long long>(grown));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace opscope
