// Paddle's summary as text, character for character.
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

// Paddle's SortedKeys and SummaryView, with their numbers.
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
// "CPUTotal", "CPUAvg", ... and "DeviceView", "OverView", ..., by number.
[[nodiscard]] std::span<const std::string_view> PaddleSortNames();
[[nodiscard]] std::span<const std::string_view> PaddleViewNames();

struct PaddleTableOptions {
  static constexpr uint32_t kAllViews = 0x1ff;

  PaddleSort sorted_by = PaddleSort::kCpuTotal;
  bool op_detail = true;
  bool thread_sep = false;
  std::string time_unit = "ms";  // "s", "ms", "us"; anything else: nanoseconds
  uint32_t views = kAllViews;    // a bit per PaddleView; their order is Paddle's
  bool is_escaped = false;       // for a terminal: what it would obey is escaped in names
};

// What Profiler.summary() prints, without the end of its last line. As Paddle does, it ends behind the view of devices
// where there is no step; where Paddle then divides by zero, because that view is not asked for, ratios are 0.
[[nodiscard]] std::string FormatPaddleSummary(const Trace& trace, const PaddleStatistics& statistics,
                                              const PaddleTableOptions& options);

// What Profiler.summary() prints behind it with with_flops, without the end of its last line; of layers that repeat the
// first `repeat`.
[[nodiscard]] std::string FormatPaddleFlops(std::span<const PaddleLayer> layers, int64_t repeat = 1);

}  // namespace opscope
