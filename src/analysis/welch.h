// Compares the means of two samples whose variances may differ: Welch's test, its 95 % interval, and the
// Benjamini-Hochberg procedure for many such tests at once. docs/reference/diff.md has the formulas.
//
//   const double a[] = {100, 110, 120}, b[] = {140, 150, 160};
//   MeanDifference d = CompareMeans({3, a}, {3, b});      delta 40, interval 17.3 to 62.7, p 0.008
//
// Thread rule: plain values and pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace opscope {

// Number, mean and variance of samples, many of which may be 0.
class SampleMoments {
 public:
  // `count` samples: `values`, and 0 for each further one. REQUIRES: values.size() <= count.
  SampleMoments(uint64_t count, std::span<const double> values);

  uint64_t count() const { return count_; }
  // 0 without samples.
  long double mean() const { return mean_; }
  // With the divisor count - 1; exactly 0 if all samples are equal. REQUIRES: at least 2 samples.
  double variance() const { return variance_; }

 private:
  uint64_t count_;
  long double mean_ = 0;
  double variance_ = 0;
};

struct MeanDifference {
  double delta = 0;  // mean of B - mean of A
  struct Test {
    double low, high;  // of the 95 % interval
    double p;          // two-sided
    bool operator==(const Test&) const = default;
  };
  std::optional<Test> test;  // nullopt: a side has fewer than 3 samples
};

[[nodiscard]] MeanDifference CompareMeans(const SampleMoments& a, const SampleMoments& b);

// For each p-value whether the Benjamini-Hochberg procedure rejects its hypothesis at the false discovery rate `rate`.
// O(n log n).
[[nodiscard]] std::vector<uint8_t> RejectedByBenjaminiHochberg(std::span<const double> p_values, double rate);

}  // namespace opscope
