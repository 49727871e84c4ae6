// Corrected times against the clock: a program of known work in nested scopes, timed without a window and
// recorded with one. The fastest of many rounds counts, because other work on the machine only ever adds.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "opscope/analysis/op_summary.h"
#include "opscope/import.h"
#include "opscope/profiler.h"

namespace opscope {
namespace {

constexpr int kCalls = 400;
constexpr int kRounds = 60;

__attribute__((noinline)) void Work() {
  for (int i = 0; i < 40; ++i)
    asm volatile("" : : "r"(i) : "memory");
}

template <int Depth>
__attribute__((noinline)) void Nest() {
  OPSCOPE_SCOPE("level");
  Work();
  if constexpr (Depth > 1) Nest<Depth - 1>();
}

template <int Depth>
void Program() {
  OPSCOPE_SCOPE("program");
  for (int i = 0; i < kCalls; ++i)
    Nest<Depth>();
}

template <typename Run>
double NsOf(const Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

Trace Recorded(void (*program)()) {
  WindowOptions options;
  options.native_threads = NativeThreads::kAttached;
  Window* window = opscope_window_open(&options, nullptr);
  program();
  opscope_window_close(window);
  std::vector<RecordingBlock> blocks;
  opscope_window_read(
      window,
      [](void* context, uint16_t type, const void* data, uint64_t bytes) {
        static_cast<std::vector<RecordingBlock>*>(context)->push_back(
            {type, {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)}});
      },
      &blocks);
  Result<Trace> trace = ImportRecording(blocks);
  opscope_window_free(window);
  EXPECT_TRUE(trace.ok());
  return std::move(trace).value();
}

struct Times {
  double alone = std::numeric_limits<double>::max();
  double raw = std::numeric_limits<double>::max();
  double corrected = std::numeric_limits<double>::max();
  double corrected_selfs = std::numeric_limits<double>::max();  // of all spans
};

Times Fastest(void (*program)()) {
  Times times;
  for (int round = 0; round < kRounds; ++round) {
    times.alone = std::min(times.alone, NsOf(program));
    const Trace trace = Recorded(program);
    const Result<OwnCostOfSpans> cost = MeasureOwnCost(trace);
    EXPECT_TRUE(cost.ok()) << cost.error().message;
    const OpSummary raw = SummarizeOps(trace);
    const OpSummary corrected = SummarizeOps(trace, {.own_cost = &cost.value()});
    for (size_t row = 0; row < raw.rows.size(); ++row) {
      if (trace.text(raw.rows[row].name) != "program") continue;
      times.raw = std::min(times.raw, static_cast<double>(raw.rows[row].total_ns));
      times.corrected = std::min(times.corrected, static_cast<double>(corrected.rows[row].total_ns));
    }
    times.corrected_selfs = std::min(times.corrected_selfs, static_cast<double>(corrected.thread_self_ns));
  }
  return times;
}

class OwnCostTruth : public testing::TestWithParam<int> {};

TEST_P(OwnCostTruth, CorrectedIsNearerToTheProgramAlone) {
  constexpr void (*kPrograms[])() = {Program<1>, Program<2>, Program<4>, Program<8>};
  const Times times = Fastest(kPrograms[GetParam()]);
  const double raw_error = std::abs(times.raw - times.alone);
  RecordProperty("error_raw_percent", std::to_string(100 * raw_error / times.alone));
  RecordProperty("error_corrected_percent", std::to_string(100 * (times.corrected - times.alone) / times.alone));
  EXPECT_LT(std::abs(times.corrected - times.alone), raw_error / 2)
      << "alone " << times.alone << ", raw " << times.raw << ", corrected " << times.corrected << " ns";
  // Self times partition the total, corrected or not.
  EXPECT_NEAR(times.corrected_selfs, times.corrected, 2 + times.corrected * 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Depths, OwnCostTruth, testing::Range(0, 4));

}  // namespace
}  // namespace opscope
