// Sums and extremes of an array as numpy computes them, to the last digit.
//
// numpy adds up in pairs: 1,000 times are not ((a + b) + c) + ..., but sums of blocks of at most 128, in each of which
// eight sums run side by side. The total that profile_analyze prints with all its digits depends on it.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace opscope {

[[nodiscard]] double PairwiseSum(std::span<const double> values);
// NaN if any value is NaN. REQUIRES: values is not empty.
[[nodiscard]] double MaxWithNan(std::span<const double> values);
[[nodiscard]] double MinWithNan(std::span<const double> values);

}  // namespace opscope
