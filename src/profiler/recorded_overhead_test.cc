// A program in nested scopes, recorded for real: its corrected times are its recorded ones without exactly what the
// recording says of its overhead. How near they come to the program alone is a measurement (bench/corrected.py).
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/analysis/op_summary.h"
#include "opscope/import.h"
#include "opscope/profiler.h"

namespace opscope {
namespace {

constexpr int kCalls = 400;

// Longer than a scope costs on any machine: what is corrected stays above 0.
__attribute__((noinline)) void Compute() {
  for (int i = 0; i < 10'000; ++i)
    asm volatile("" : : "r"(i) : "memory");
}

template <int Depth>
void Nest() {
  OPSCOPE_SCOPE("level");
  Compute();
  if constexpr (Depth > 1) Nest<Depth - 1>();
}

template <int Depth>
void Program() {
  OPSCOPE_SCOPE("program");
  for (int i = 0; i < kCalls; ++i) {
    Compute();
    Nest<Depth>();
  }
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

const OpSummaryRow& RowOf(const Trace& trace, const OpSummary& summary, std::string_view name) {
  return *std::ranges::find_if(summary.rows, [&](const OpSummaryRow& row) { return trace.text(row.name) == name; });
}

class RecordedOverhead : public testing::TestWithParam<int> {};

TEST_P(RecordedOverhead, IsWhatCorrectedTimesLack) {
  constexpr std::pair<int, void (*)()> kPrograms[] = {
      {1, Program<1>}, {2, Program<2>}, {4, Program<4>}, {8, Program<8>}};
  const auto [depth, program] = kPrograms[GetParam()];
  const Trace trace = Recorded(program);
  const Result<SpanOverheads> cost = MeasureOverhead(trace);
  ASSERT_TRUE(cost.ok()) << cost.error().message;
  const EventCost scope = trace.info().overheads->Find(MeasuredOverheads::kProgram, SpanKind::kUserRange)->cost;
  const OpSummary raw = SummarizeOps(trace);
  const OpSummary corrected = SummarizeOps(trace, {.overhead = &cost.value()});
  const auto lacks = [&](std::string_view name) {
    return static_cast<double>(RowOf(trace, raw, name).total_ns - RowOf(trace, corrected, name).total_ns);
  };
  ASSERT_EQ(corrected.correction->below_zero, 0u);
  const double levels = kCalls * depth;
  EXPECT_NEAR(lacks("program"), scope.inside_ns + levels * scope.whole_ns(), 1);
  // Of levels within each other the outermost counts: it holds its own inside and the whole of those below it.
  EXPECT_NEAR(lacks("level"), kCalls * scope.inside_ns + (levels - kCalls) * scope.whole_ns(), 1);
  // Self times partition the total, corrected or not.
  EXPECT_EQ(raw.thread_self_ns, RowOf(trace, raw, "program").total_ns);
  EXPECT_NEAR(static_cast<double>(corrected.thread_self_ns),
              static_cast<double>(RowOf(trace, corrected, "program").total_ns), 1);
}

INSTANTIATE_TEST_SUITE_P(Programs, RecordedOverhead, testing::Range(0, 4));

}  // namespace
}  // namespace opscope
