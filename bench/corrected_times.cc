// Corrected times against the clock: a program of known work in nested scopes, timed without a window and
// recorded with one, in turns; the fastest of each counts. One JSON object per kind of work.
//
//   corrected_times [ROUNDS]
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "opscope/analysis/op_summary.h"
#include "opscope/import.h"
#include "opscope/scope.h"

namespace {

constexpr int kCalls = 400;

// Work of several kinds, because what a scope costs depends on what it lies around: how much of its work the
// processor does beside the program's, and how much of the program's it holds up.
void Branches() {
  for (int i = 0; i < 100; ++i)
    asm volatile("" : : "r"(i) : "memory");
}
void Copy() {
  static char from[4096], to[4096];
  asm volatile("" : : "r"(from), "r"(to) : "memory");
  std::memcpy(to, from, sizeof(to));
  asm volatile("" : : "r"(to) : "memory");
}
void Allocate() {
  void* memory = std::malloc(64);
  asm volatile("" : : "r"(memory) : "memory");
  std::free(memory);
}
void DependentLoads() {
  static uint32_t table[1024];
  asm volatile("" : : "r"(table) : "memory");
  uint32_t at = 1;
  for (uint32_t i = 0; i < 40; ++i)
    at = table[(at + i) & 1023] + i;
  asm volatile("" : : "r"(at));
}

template <void (*Work)()>
__attribute__((noinline)) void Layer() {
  OPSCOPE_SCOPE("layer");
  Work();
}

template <void (*Work)()>
void Program() {
  OPSCOPE_SCOPE("program");
  for (int i = 0; i < kCalls; ++i) {
    OPSCOPE_SCOPE("step");
    Layer<Work>();
    Layer<Work>();
  }
}

double NsOf(void (*program)()) {
  const auto begin = std::chrono::steady_clock::now();
  program();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

opscope::Result<opscope::Trace> Recorded(void (*program)()) {
  const opscope::WindowOptions options;
  opscope::Window* window = opscope_window_open(&options, nullptr);
  if (window == nullptr) return opscope::Error{opscope::ErrorCode::kUnsupported, "no window"};
  program();
  opscope_window_close(window);
  std::vector<opscope::RecordingBlock> blocks;
  opscope_window_read(
      window,
      [](void* context, uint16_t type, const void* data, uint64_t bytes) {
        static_cast<std::vector<opscope::RecordingBlock>*>(context)->push_back(
            {type, {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)}});
      },
      &blocks);
  opscope::Result<opscope::Trace> trace = opscope::ImportRecording(blocks);
  opscope_window_free(window);
  return trace;
}

double TotalOf(const opscope::Trace& trace, const opscope::OpSummary& summary) {
  for (const opscope::OpSummaryRow& row : summary.rows) {
    if (trace.text(row.name) == "program") return static_cast<double>(row.total_ns);
  }
  return 0;
}

// False: no costs in the recording.
bool PrintWork(const char* work, void (*program)(), int rounds) {
  constexpr double kMost = std::numeric_limits<double>::max();
  double alone = kMost, raw = kMost, corrected = kMost, scope_ns = 0;
  for (int round = 0; round < rounds; ++round) {
    alone = std::min(alone, NsOf(program));
    const opscope::Result<opscope::Trace> recorded = Recorded(program);
    if (!recorded.ok()) return false;
    const opscope::Trace& trace = recorded.value();
    const opscope::Result<opscope::OwnCostOfSpans> cost = opscope::MeasureOwnCost(trace);
    if (!cost.ok()) return false;
    using opscope::OwnCosts, opscope::SpanKind;
    scope_ns = trace.info().own_costs->Find(OwnCosts::kProgram, SpanKind::kUserRange)->cost.whole_ns();
    raw = std::min(raw, TotalOf(trace, opscope::SummarizeOps(trace)));
    corrected = std::min(corrected, TotalOf(trace, opscope::SummarizeOps(trace, {.own_cost = &cost.value()})));
  }
  std::printf("{\"work\": \"%s\", \"alone\": %.0f, \"raw\": %.0f, \"corrected\": %.0f, \"scope_ns\": %.2f}\n", work,
              alone, raw, corrected, scope_ns);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 60;
  const bool all = PrintWork("branches", &Program<Branches>, rounds) && PrintWork("copy", &Program<Copy>, rounds) &&
                   PrintWork("allocate", &Program<Allocate>, rounds) &&
                   PrintWork("loads", &Program<DependentLoads>, rounds);
  return all ? 0 : 1;
}
