// Welch's test. With sample variances sA^2, sB^2 of nA, nB samples:
//
//   e^2 = sA^2/nA + sB^2/nB      t = delta / e      v = e^4 / ((sA^2/nA)^2 / (nA - 1) + (sB^2/nB)^2 / (nB - 1))
//
//   100, 110, 120 against 140, 150, 160:  variances 100, e = 8.165, t = 4.899, v = 4, p = 0.008, 40 +- 2.776 e
//
// Student's own test takes one common variance, but a run that became slower often also became less steady.
//
// Most names of a trace occur in few of its steps, so samples of 0 are counted and not stored. The variance is a second
// pass around the mean: a sum of squares would lose all digits of 10^9 ns +- 10 ns.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/welch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/student_t.h"

namespace opscope {

SampleMoments::SampleMoments(uint64_t count, std::span<const double> values) : count_(count) {
  if (count == 0) return;
  const auto n = static_cast<long double>(count);
  const uint64_t zeros = count - values.size();
  long double sum = 0;
  for (const double value : values)
    sum += value;
  mean_ = sum / n;
  if (count < 2 || values.empty()) return;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least == *most && (zeros == 0 || *least == 0)) {  // rounding of the mean must not make a variance
    mean_ = *least;
    return;
  }
  long double squares = static_cast<long double>(zeros) * mean_ * mean_;
  for (const double value : values)
    squares += (value - mean_) * (value - mean_);
  variance_ = static_cast<double>(squares / (n - 1));
}

namespace {

// Means of runs are quotients, whose rounding errors may move a difference of 15.5 below it, so that it rounds to 15.
// A difference that is half of an integer within these errors is that.
double DeltaOf(const SampleMoments& a, const SampleMoments& b) {
  const long double delta = b.mean() - a.mean(), twice = std::round(2 * delta);
  const long double error = 8 * std::numeric_limits<double>::epsilon() * (std::abs(a.mean()) + std::abs(b.mean()));
  return static_cast<double>(std::abs(2 * delta - twice) <= error ? twice / 2 : delta);
}

}  // namespace

MeanDifference CompareMeans(const SampleMoments& a, const SampleMoments& b) {
  constexpr uint64_t kFewest = 3;
  MeanDifference result{.delta = DeltaOf(a, b), .test = {}};
  if (a.count() < kFewest || b.count() < kFewest) return result;
  const auto n_a = static_cast<double>(a.count()), n_b = static_cast<double>(b.count());
  const double e_a = a.variance() / n_a, e_b = b.variance() / n_b, square = e_a + e_b;
  if (square == 0) {
    result.test = {result.delta, result.delta, result.delta == 0 ? 1.0 : 0.0};
    return result;
  }
  const double freedom = square * square / (e_a * e_a / (n_a - 1) + e_b * e_b / (n_b - 1));
  const double error = std::sqrt(square), half = StudentQuantile975(freedom) * error;
  result.test = {result.delta - half, result.delta + half, TwoSidedP(result.delta / error, freedom)};
  return result;
}

std::vector<uint8_t> RejectedByBenjaminiHochberg(std::span<const double> p_values, double rate) {
  std::vector<uint32_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return p_values[a] < p_values[b]; });
  const auto n = static_cast<double>(order.size());
  size_t rejected = order.size();
  while (rejected > 0 && p_values[order[rejected - 1]] > static_cast<double>(rejected) / n * rate)
    --rejected;
  std::vector<uint8_t> result(order.size(), 0);
  for (size_t rank = 0; rank < rejected; ++rank)
    result[order[rank]] = 1;
  return result;
}

}  // namespace opscope
