// One kind of event, as many times as asked, for callgrind to count (bench/instructions.py). Only the events
// are counted: what comes before them has warmed everything up, so that the count does not vary.
//
//   valgrind --tool=callgrind --instr-atstart=no event_cases CASE EVENTS
// SPDX-License-Identifier: Apache-2.0
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "opscope/scope.h"

namespace {

using opscope::BeginNativeScope;
using opscope::EndNativeScope;
using opscope::StaticName;

// The compiler may not merge the events of a loop.
void Fence() {
  asm volatile("" : : : "memory");
}

void EmptyLoop() {
  Fence();
}
void OneScope() {
  OPSCOPE_SCOPE("scope");
  Fence();
}
void CrossingScopes() {
  opscope::OpenScope* first = BeginNativeScope(StaticName{"first"});
  opscope::OpenScope* second = BeginNativeScope(StaticName{"second"});
  Fence();
  EndNativeScope(first);
  EndNativeScope(second);
}
void ScopeWithText() {
  opscope::Scope scope(StaticName{"text"});
  scope.Arg("device", "cpu");
}
void OneCounter() {
  opscope::Counter("counter", 1.5);
}
// The window that is open meanwhile.
enum class Open { kNone, kOne, kFile };

struct Case {
  const char* name;
  Open open;
  void (*run)();
};
constexpr Case kCases[] = {
    {"empty_loop", Open::kNone, &EmptyLoop},
    {"disabled_scope", Open::kNone, &OneScope},
    {"scope", Open::kOne, &OneScope},
    {"crossing_scopes", Open::kOne, &CrossingScopes},
    {"scope_with_text", Open::kOne, &ScopeWithText},
    {"scope_mapped", Open::kFile, &OneScope},
    {"counter", Open::kOne, &OneCounter},
};

constexpr char kFile[] = "event_cases.opscope";

opscope::Window* OpenWindow(Open open) {
  opscope::WindowOptions options;
  if (open == Open::kFile) options.record_to = kFile;
  return opscope_window_open(&options, nullptr);
}

__attribute__((noinline)) void Repeat(void (*run)(), uint64_t events) {
  for (uint64_t i = 0; i < events; ++i)
    run();
}

int Run(const Case& chosen, uint64_t events) {
  constexpr uint64_t kWarm = 1000;
  opscope::Window* window = chosen.open == Open::kNone ? nullptr : OpenWindow(chosen.open);
  Repeat(chosen.run, kWarm);
  CALLGRIND_START_INSTRUMENTATION;
  Repeat(chosen.run, events);
  CALLGRIND_STOP_INSTRUMENTATION;
  if (chosen.open == Open::kNone) return 0;
  if (window == nullptr) return 1;
  const bool is_whole = opscope_window_counts(window).recorded > 0 && opscope_window_counts(window).dropped == 0;
  const bool in_file = chosen.open == Open::kOne || opscope_window_file(window).error == 0;
  opscope_window_free(window);
  if (chosen.open == Open::kFile) std::remove(kFile);
  return is_whole && in_file ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (const Case& chosen : kCases) {
    if (argc == 3 && std::string_view(argv[1]) == chosen.name) return Run(chosen, std::strtoull(argv[2], nullptr, 10));
  }
  std::fprintf(stderr, "usage: event_cases CASE EVENTS\n");
  return 2;
}
