// Reproduces numpy's pairwise summation: blocks of at most 128 values are summed in eight independent lanes, larger
// arrays are halved. The order of the additions decides the last digits, which profile_analyze prints.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/megengine/array_math.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace opscope {

double PairwiseSum(std::span<const double> values) {
  constexpr size_t kLanes = 8, kBlock = 128;
  const size_t size = values.size();
  if (size > kBlock) {
    const size_t half = size / 2 - size / 2 % kLanes;
    return PairwiseSum(values.first(half)) + PairwiseSum(values.subspan(half));
  }
  double sum = 0;
  size_t at = 0;
  if (size >= kLanes) {
    std::array<double, kLanes> lanes = {};
    for (; at + kLanes <= size; at += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = at == 0 ? values[lane] : lanes[lane] + values[at + lane];
    }
    sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
  for (; at < size; ++at)
    sum += values[at];
  return sum;
}

double MaxWithNan(std::span<const double> values) {
  double most = values.front();
  for (const double value : values)
    if (value > most || std::isnan(value)) most = value;
  return most;
}

double MinWithNan(std::span<const double> values) {
  double least = values.front();
  for (const double value : values)
    if (value < least || std::isnan(value)) least = value;
  return least;
}

}  // namespace opscope
