// Quantiles by selection instead of sorting: nth_element finds the median, and then the 99th percentile only in the
// part above it, in linear time. The standard deviation takes a second pass around the mean, because sums of squares of
// large, similar durations lose their digits.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/duration_quantiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace opscope {
namespace {

// Index, in sorted order, of the value with rank ceil(share * n).
size_t QuantileIndex(int per_cent, size_t count) {
  const auto rank = static_cast<size_t>(std::ceil(per_cent / 100.0 * static_cast<double>(count)));
  return std::clamp<size_t>(rank, 1, count) - 1;
}

int64_t StandardDeviation(std::span<const int64_t> values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const int64_t value : values)
    sum += static_cast<double>(value);
  const double mean = sum / count;
  double squares = 0;
  for (const int64_t value : values)
    squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  return std::llround(std::min(std::sqrt(squares / count), 9e18));
}

}  // namespace

DurationQuantiles QuantilesOf(std::span<int64_t> durations_ns) {
  if (durations_ns.empty()) return {};
  const size_t half = QuantileIndex(50, durations_ns.size()), most = QuantileIndex(99, durations_ns.size());
  const auto begin = durations_ns.begin();
  std::nth_element(begin, begin + static_cast<ptrdiff_t>(half), durations_ns.end());
  const int64_t p50 = durations_ns[half];  // longer durations are behind it
  std::nth_element(begin + static_cast<ptrdiff_t>(half), begin + static_cast<ptrdiff_t>(most), durations_ns.end());
  return {p50, durations_ns[most], StandardDeviation(durations_ns)};
}

}  // namespace opscope
