// What a native scope costs, in nanoseconds per begin and end, against the clock reads that it cannot
// do without. Steady state: the window keeps the newest records, so memory is recycled and first
// touches are not measured. bench/native.py makes the rows of docs/explanation/performance.md of this program:
//
//   Scope            one scope, recorded             <= 1.15 x TwoClockReads
//   ScopePastTheCap  nothing is kept, all is counted <= 0.7 x Scope
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cstdint>

#include "opscope/scope.h"

namespace {

opscope::Window* window = nullptr;  // the one that is open

void OpenWindow(const benchmark::State& state) {
  opscope::WindowOptions options;
  options.at_cap = opscope::AtCap::kKeepNewest;
  options.max_bytes = uint64_t{1} << 20;
  if (state.threads() > 1) options.max_bytes *= static_cast<uint64_t>(state.threads());
  window = opscope_window_open(&options, nullptr);
}

// No thread has a chunk with room in it.
void OpenFullWindow(const benchmark::State& /*state*/) {
  opscope::WindowOptions options;
  options.max_bytes = 1;
  window = opscope_window_open(&options, nullptr);
  while (opscope_window_counts(window).dropped == 0)
    OPSCOPE_SCOPE("scope");
}

void FreeWindow(const benchmark::State& /*state*/) {
  opscope_window_free(window);
  window = nullptr;
}

uint64_t ReadRawClock() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return opscope::ReadTicks();
#endif
}

void TwoClockReads(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(ReadRawClock());
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(ReadRawClock());
  }
}
BENCHMARK(TwoClockReads);

void RunScopes(benchmark::State& state) {
  for (auto _ : state) {
    OPSCOPE_SCOPE("scope");
    benchmark::ClobberMemory();
  }
}

void Scope(benchmark::State& state) {
  RunScopes(state);
}
BENCHMARK(Scope)->Setup(OpenWindow)->Teardown(FreeWindow);

constexpr int kManyThreads = 64;
void ScopeOfManyThreads(benchmark::State& state) {
  RunScopes(state);
}
BENCHMARK(ScopeOfManyThreads)->Setup(OpenWindow)->Teardown(FreeWindow)->Threads(kManyThreads);

void ScopePastTheCap(benchmark::State& state) {
  RunScopes(state);
}
BENCHMARK(ScopePastTheCap)->Setup(OpenFullWindow)->Teardown(FreeWindow)->Threads(kManyThreads);

}  // namespace

BENCHMARK_MAIN();
