// A program as a user of an installed opscope writes it: bench/native.py compiles it with `c++ -O2` and nothing else.
// Prints one line per round: nanoseconds of a native scope and of two clock reads.
//
//   stranger_scope ROUNDS EVENTS
// SPDX-License-Identifier: Apache-2.0
#include <opscope/scope.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

// The compiler may not merge the events of a loop.
void Fence() {
  asm volatile("" : : : "memory");
}

uint64_t ReadClock() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return opscope::ReadTicks();
#endif
}

void RunScopes(int events) {
  for (int i = 0; i < events; ++i) {
    OPSCOPE_SCOPE("scope");
    Fence();
  }
}

void RunClockReads(int events) {
  for (int i = 0; i < events; ++i) {
    for (int read = 0; read < 2; ++read) {
      uint64_t ticks = ReadClock();
      asm volatile("" : "+r"(ticks) : : "memory");
    }
  }
}

double Nanoseconds(void (*run)(int), int events) {
  const auto begin = std::chrono::steady_clock::now();
  run(events);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / events;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const int rounds = std::atoi(arguments[1]), events = std::atoi(arguments[2]);
  opscope::WindowOptions options;
  options.at_cap = opscope::AtCap::kKeepNewest;
  options.max_bytes = 1 << 20;
  opscope::Window* window = opscope_window_open(&options, nullptr);
  for (int round = 0; round < rounds; ++round) {
    const double scope = Nanoseconds(&RunScopes, events), clocks = Nanoseconds(&RunClockReads, events);
    std::printf("%.3f %.3f\n", scope, clocks);
  }
  const bool recorded = opscope_window_counts(window).recorded > 0;
  opscope_window_free(window);
  return recorded ? 0 : 1;
}
