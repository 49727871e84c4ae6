// Bins of durations for quantiles of many ranks: the ranks' counts by bin add up, and the p-quantile is at most the
// largest duration of the bin in which it lies.
//
// A bin has the durations with equal seven leading bits: one bin each for 0 to 127, then 64 bins for each power of two.
// The largest duration of a bin is less than 1/64 (1.6 %) above the smallest.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace opscope {

// The number of the bin, 0 to 3711, ascending with the duration. Negative durations have the bin of 0.
constexpr int32_t BinOfDuration(int64_t duration_ns) {
  if (duration_ns < 128) return duration_ns < 0 ? 0 : static_cast<int32_t>(duration_ns);
  const int shift = static_cast<int>(std::bit_width(static_cast<uint64_t>(duration_ns))) - 7;
  return 64 * shift + static_cast<int32_t>(duration_ns >> shift);
}

}  // namespace opscope
