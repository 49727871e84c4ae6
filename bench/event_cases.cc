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
void NestedScopes() {
  OPSCOPE_SCOPE("outer");
  Fence();
  {
    OPSCOPE_SCOPE("inner");
    Fence();
  }
  Fence();
}
void CrossingScopes() {
  opscope::OpenScope* first = BeginNativeScope(StaticName{"first"});
  opscope::OpenScope* second = BeginNativeScope(StaticName{"second"});
  Fence();
  EndNativeScope(first);
  EndNativeScope(second);
}
void ScopeOfText() {
  const char* name = "text";
  asm volatile("" : "+r"(name));
  const opscope::Scope scope(name);
  Fence();
}
void ScopeWithNumber() {
  opscope::Scope scope(StaticName{"number"});
  scope.Arg("batch", 32);
}
void ScopeWithText() {
  opscope::Scope scope(StaticName{"text"});
  scope.Arg("device", "cpu");
}
void OneCounter() {
  opscope::Counter("counter", 1.5);
}
void OneInstant() {
  opscope::Instant("instant");
}
void OneFlow() {
  opscope::FlowBegin("flow", 7);
  opscope::FlowEnd("flow", 7);
}

// Windows that are open meanwhile.
enum class Open { kNone, kOne, kTwo, kRing, kFile };

struct Case {
  const char* name;
  Open open;
  void (*run)();
};
constexpr Case kCases[] = {
    {"empty_loop", Open::kNone, &EmptyLoop},
    {"disabled_scope", Open::kNone, &OneScope},
    {"disabled_counter", Open::kNone, &OneCounter},
    {"scope", Open::kOne, &OneScope},
    {"nested_scopes", Open::kOne, &NestedScopes},
    {"crossing_scopes", Open::kOne, &CrossingScopes},
    {"scope_of_text", Open::kOne, &ScopeOfText},
    {"scope_with_number", Open::kOne, &ScopeWithNumber},
    {"scope_with_text", Open::kOne, &ScopeWithText},
    {"scope_two_windows", Open::kTwo, &OneScope},
    {"scope_keep_newest", Open::kRing, &OneScope},
    {"scope_mapped", Open::kFile, &OneScope},
    {"counter", Open::kOne, &OneCounter},
    {"instant", Open::kOne, &OneInstant},
    {"flow", Open::kOne, &OneFlow},
};

constexpr uint64_t kRingBytes = uint64_t{1} << 20;
constexpr char kFile[] = "event_cases.opscope";

opscope::Window* OpenWindow(Open open) {
  opscope::WindowOptions options;
  if (open == Open::kRing) {
    options.at_cap = opscope::AtCap::kKeepNewest;
    options.max_bytes = kRingBytes;
  }
  if (open == Open::kFile) options.record_to = kFile;
  return opscope_window_open(&options, nullptr);
}

__attribute__((noinline)) void Repeat(void (*run)(), uint64_t events) {
  for (uint64_t i = 0; i < events; ++i)
    run();
}

int Run(const Case& chosen, uint64_t events) {
  constexpr uint64_t kWarm = 1000;
  opscope::Window* first = chosen.open == Open::kNone ? nullptr : OpenWindow(chosen.open);
  opscope::Window* second = chosen.open == Open::kTwo ? OpenWindow(chosen.open) : nullptr;
  // A ring goes round until its chunks are those that were used before.
  Repeat(chosen.run, chosen.open == Open::kRing ? 4 * kRingBytes / sizeof(opscope::Record) : kWarm);
  CALLGRIND_START_INSTRUMENTATION;
  Repeat(chosen.run, events);
  CALLGRIND_STOP_INSTRUMENTATION;
  const bool is_open = chosen.open != Open::kNone;
  const bool whole = !is_open || (first != nullptr && opscope_window_counts(first).recorded > 0 &&
                                  (chosen.open == Open::kRing || opscope_window_counts(first).dropped == 0));
  const bool in_file = chosen.open != Open::kFile || (first != nullptr && opscope_window_file(first).error == 0);
  if (first != nullptr) opscope_window_free(first);
  if (chosen.open == Open::kFile) std::remove(kFile);
  if (second != nullptr) opscope_window_free(second);
  return whole && in_file ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (const Case& chosen : kCases) {
    if (argc == 3 && std::string_view(argv[1]) == chosen.name) return Run(chosen, std::strtoull(argv[2], nullptr, 10));
  }
  std::fprintf(stderr, "usage: event_cases CASE EVENTS\n");
  return 2;
}
