// Reads two clocks together. The clocks cannot be read in one instruction, and an interrupt between two
// reads moves one of them by microseconds. So each reading is bracketed by two reads of the other clock,
// and of five tries the one with the shortest bracket counts:
//
//   ticks 1000 | CLOCK_MONOTONIC 5'000'040 ns | ticks 1100     ->  tick 1050 was 5'000'040 ns, +- 50 ticks
//
// The wall clock enters once, as an offset to the monotonic clock when the window opens: a step of NTP
// during a recording then does not bend its times.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/clock.h"

#include <time.h>

#include <algorithm>
#include <iterator>

#include "opscope/recorder.h"
#include "recorder/registry.h"
#include "recorder/system_file.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace opscope {
namespace {

constexpr int kReadings = 5;  // one of them was not interrupted

int64_t ReadNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

}  // namespace

bool TscIsTrustworthy() {
#if defined(__x86_64__)
  char buffer[64];
  const std::string_view source =
      ReadSystemFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", buffer);
  // The kernel fell back to one of these because its watchdog saw the TSC drift.
  static constexpr std::string_view kFallbacks[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
  if (std::find(std::begin(kFallbacks), std::end(kFallbacks), source) != std::end(kFallbacks)) return false;
  if (source == "tsc") return true;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;  // "invariant TSC"
#else
  return false;
#endif
}

WallReading ReadWallClock() {
  WallReading best{.within_ns = INT64_MAX};
  for (int i = 0; i < kReadings; ++i) {
    const int64_t before = ReadNs(CLOCK_MONOTONIC);
    const int64_t wall = ReadNs(CLOCK_REALTIME);
    const int64_t after = ReadNs(CLOCK_MONOTONIC);
    const int64_t within = (after - before) / 2 + 1;
    if (within < best.within_ns) best = {before + (after - before) / 2, wall, within};
  }
  return best;
}

Calibration Calibrate(int64_t wall_offset_ns) {
  Calibration best;
  uint64_t best_gap = ~uint64_t{0};
  for (int i = 0; i < kReadings; ++i) {
    const uint64_t before = ReadTicks();
    const int64_t now = ReadNs(CLOCK_MONOTONIC);
    const uint64_t after = ReadTicks();
    if (after - before < best_gap) {
      best_gap = after - before;
      best = {before + (after - before) / 2, now + wall_offset_ns};
    }
  }
  return best;
}

Calibration TickRate() {
  constexpr int64_t kShortestNs = 1000000;  // two readings of 50 ns make an error of 1e-4 at most
  for (;;) {
    const Calibration now = Calibrate(0);
    const int64_t ns = now.unix_ns - registry.loaded.unix_ns;
    if (ns >= kShortestNs || ns < 0) return {now.ticks - registry.loaded.ticks, ns};
  }
}

int64_t CoarseMonotonicNs() {
  return ReadNs(CLOCK_MONOTONIC_COARSE);
}

}  // namespace opscope

uint64_t opscope_read_slow_clock() {
  return static_cast<uint64_t>(opscope::ReadNs(CLOCK_MONOTONIC));
}
