// Paddle's summary as text, character for character.
//
//   const PaddleNodeTrees trees = BuildPaddleNodeTrees(trace);
//   const PaddleStatistics statistics = ComputePaddleStatistics(trace, trees);
//   PaddleTableOptions options;
//   options.sorted_by = PaddleSort::kGpuTotal;
//   Print(FormatPaddleSummary(trace, statistics, options));
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "opscope/paddle/layers.h"
#include "opscope/paddle/statistics.h"
#include "opscope/trace.h"

namespace opscope {

// Paddle's SortedKeys and SummaryView, with their numbers. kCpuMin and kGpuMin sort
// the smallest value first, the others the largest.
enum class PaddleSort : uint8_t { kCpuTotal, kCpuAvg, kCpuMax, kCpuMin, kGpuTotal, kGpuAvg, kGpuMax, kGpuMin };
enum class PaddleView : uint8_t {
  kDevice,
  kOverview,
  kModel,
  kDistributed,
  kKernel,
  kOperator,
  kMemory,
  kMemoryManipulation,
  kUserDefined,
};
// "CPUTotal", "CPUAvg", ...: names of PaddleSort, by number.
[[nodiscard]] std::span<const std::string_view> PaddleSortNames();
// "DeviceView", "OverView", ...: names of PaddleView, by number.
[[nodiscard]] std::span<const std::string_view> PaddleViewNames();

// Arguments of Profiler.summary(), and opscope's own.
struct PaddleTableOptions {
  // A bit for each PaddleView.
  static constexpr uint32_t kAllViews = 0x1ff;

  // Order of the rows of operators, kernels and ranges.
  PaddleSort sorted_by = PaddleSort::kCpuTotal;
  // Show the parts of operators.
  bool op_detail = true;
  // A table per thread.
  bool thread_sep = false;
  // "s", "ms", "us"; anything else: nanoseconds.
  std::string time_unit = "ms";
  // A bit for each PaddleView to show; their order is Paddle's.
  uint32_t views = kAllViews;
  // For a terminal: escapes control characters in names.
  bool is_escaped = false;
};

// The output of Profiler.summary() without its last newline. As in Paddle, it ends
// after the device view if there is no step. Ratios are 0 where Paddle divides by
// zero because that view was not requested.
[[nodiscard]] std::string FormatPaddleSummary(const Trace& trace, const PaddleStatistics& statistics,
                                              const PaddleTableOptions& options);

// What Profiler.summary() prints after it with with_flops, without the last
// newline, for layers that repeat the first `repeat` ones.
[[nodiscard]] std::string FormatPaddleFlops(std::span<const PaddleLayer> layers, int64_t repeat = 1);

}  // namespace opscope
