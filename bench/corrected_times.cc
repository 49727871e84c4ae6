// Corrected times against the clock: a program of known work in nested scopes, timed without a window and
// recorded with one, in turns; the fastest of each counts. Prints one JSON object.
//
//   corrected_times [ROUNDS]
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "opscope/analysis/op_summary.h"
#include "opscope/import.h"
#include "opscope/scope.h"

namespace {

constexpr int kCalls = 400;

// malloc and free: of the kinds of work that were tried, the one whose correction is furthest off.
void Allocate() {
  void* memory = std::malloc(64);
  asm volatile("" : : "r"(memory) : "memory");
  std::free(memory);
}
__attribute__((noinline)) void Layer() {
  OPSCOPE_SCOPE("layer");
  Allocate();
}

void Program() {
  OPSCOPE_SCOPE("program");
  for (int i = 0; i < kCalls; ++i) {
    OPSCOPE_SCOPE("step");
    Layer();
    Layer();
  }
}

double NsOfProgram() {
  const auto begin = std::chrono::steady_clock::now();
  Program();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

opscope::Result<opscope::Trace> RecordProgram() {
  const opscope::WindowOptions options;
  opscope::Window* window = opscope_window_open(&options, nullptr);
  if (window == nullptr) return opscope::Error{opscope::ErrorCode::kUnsupported, "no window"};
  Program();
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

// False: the recording has no costs.
bool PrintTimes(int rounds) {
  constexpr double kMost = std::numeric_limits<double>::max();
  double alone = kMost, raw = kMost, corrected = kMost;
  for (int round = 0; round < rounds; ++round) {
    alone = std::min(alone, NsOfProgram());
    const opscope::Result<opscope::Trace> recorded = RecordProgram();
    if (!recorded.ok()) return false;
    const opscope::Trace& trace = recorded.value();
    const opscope::Result<opscope::SpanOverheads> cost = opscope::MeasureOverhead(trace);
    if (!cost.ok()) return false;
    raw = std::min(raw, TotalOf(trace, opscope::SummarizeOps(trace)));
    corrected = std::min(corrected, TotalOf(trace, opscope::SummarizeOps(trace, {.overhead = &cost.value()})));
  }
  std::printf("{\"alone\": %.0f, \"raw\": %.0f, \"corrected\": %.0f}\n", alone, raw, corrected);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return PrintTimes(argc > 1 ? std::atoi(argv[1]) : 60) ? 0 : 1;
}
