// What a native scope costs, in nanoseconds per begin and end, against the clock reads that it cannot
// do without. Steady state: the window keeps the newest records, so memory is recycled and first
// touches are not measured. bench/native.py makes the rows of docs/performance.md of this program:
//
//   Scope            one scope, recorded             <= 1.15 x TwoClockReads
//   DisabledScope    the same, no window is open     <= EmptyLoop + 0.6 ns
//   Scope/threads:N  on N threads at once            <= 1.15 x Scope, per thread
//   MappedScope      the same into a mapped file     <= 1.3 x Scope
//   ScopePastTheCap  nothing is kept, all is counted <= 0.7 x Scope
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>

#include "opscope/scope.h"

namespace {

opscope::Window* window = nullptr;  // the one that is open

void OpenWindowOf(const benchmark::State& state, const char* record_to) {
  opscope::WindowOptions options;
  options.record_to = record_to;
  options.at_cap = opscope::AtCap::kKeepNewest;
  options.max_bytes = uint64_t{1} << 20;
  if (state.threads() > 1) options.max_bytes *= static_cast<uint64_t>(state.threads());
  window = opscope_window_open(&options, nullptr);
}

void OpenWindow(const benchmark::State& state) {
  OpenWindowOf(state, nullptr);
}

constexpr char kFile[] = "record_bench.opscope";

void OpenMappedWindow(const benchmark::State& state) {
  OpenWindowOf(state, kFile);
}

// No thread has a chunk with room in it.
void OpenFullWindow(const benchmark::State& /*state*/) {
  opscope::WindowOptions options;
  options.max_bytes = 1;
  window = opscope_window_open(&options, nullptr);
  while (opscope_window_counts(window).dropped == 0)
    OPSCOPE_SCOPE("scope");
}

void FreeMappedWindow(const benchmark::State& /*state*/) {
  opscope_window_free(window);
  window = nullptr;
  std::remove(kFile);
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

void EmptyLoop(benchmark::State& state) {
  for (auto _ : state)
    benchmark::ClobberMemory();
}
BENCHMARK(EmptyLoop);

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

void DisabledScope(benchmark::State& state) {
  RunScopes(state);
}
BENCHMARK(DisabledScope);

void Scope(benchmark::State& state) {
  RunScopes(state);
}
BENCHMARK(Scope)->Setup(OpenWindow)->Teardown(FreeWindow);
// Not more threads than a small machine has cores: beyond them the scheduler is what is measured.
BENCHMARK(Scope)->Setup(OpenWindow)->Teardown(FreeWindow)->Threads(2)->Threads(4);

void MappedScope(benchmark::State& state) {
  RunScopes(state);
}
BENCHMARK(MappedScope)->Setup(OpenMappedWindow)->Teardown(FreeMappedWindow);

constexpr int kManyThreads = 64;
void ScopeOfManyThreads(benchmark::State& state) {
  RunScopes(state);
}
BENCHMARK(ScopeOfManyThreads)->Setup(OpenWindow)->Teardown(FreeWindow)->Threads(kManyThreads);

void ScopePastTheCap(benchmark::State& state) {
  RunScopes(state);
}
BENCHMARK(ScopePastTheCap)->Setup(OpenFullWindow)->Teardown(FreeWindow)->Threads(1)->Threads(kManyThreads);

void NestedScopes(benchmark::State& state) {
  for (auto _ : state) {
    OPSCOPE_SCOPE("outer");
    OPSCOPE_SCOPE("inner");
    benchmark::ClobberMemory();
  }
}
BENCHMARK(NestedScopes)->Setup(OpenWindow)->Teardown(FreeWindow);

void ScopeWithRuntimeName(benchmark::State& state) {
  const std::string name = "layer" + std::to_string(state.iterations());
  for (auto _ : state) {
    opscope::Scope scope(name.c_str());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(ScopeWithRuntimeName)->Setup(OpenWindow)->Teardown(FreeWindow);

void ScopeWithTwoArguments(benchmark::State& state) {
  for (auto _ : state) {
    opscope::Scope scope("scope");
    scope.Arg("batch", 32).Arg("device", "cpu");
    benchmark::ClobberMemory();
  }
}
BENCHMARK(ScopeWithTwoArguments)->Setup(OpenWindow)->Teardown(FreeWindow);

void CounterValue(benchmark::State& state) {
  for (auto _ : state)
    opscope::Counter("loss", 0.5);
}
BENCHMARK(CounterValue)->Setup(OpenWindow)->Teardown(FreeWindow);

}  // namespace

BENCHMARK_MAIN();
