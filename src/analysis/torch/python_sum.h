// Python's sum() of floats, which from 3.12 on uses Neumaier's compensation (A. Neumaier, "Rundungsfehleranalyse
// einiger Verfahren zur Summation endlicher Summen", 1974). The last digits of torch's totals and self times depend on
// it.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace opscope {

class PythonSum {
 public:
  explicit PythonSum(bool is_compensated) : is_compensated_(is_compensated) {}
  void Add(double value) {
    const double sum = sum_ + value;
    if (is_compensated_) {
      const bool larger = std::fabs(sum_) >= std::fabs(value);
      lost_ += larger ? (sum_ - sum) + value : (value - sum) + sum_;
    }
    sum_ = sum;
  }
  double Result() const { return sum_ + lost_; }

 private:
  bool is_compensated_;
  double sum_ = 0, lost_ = 0;
};

}  // namespace opscope
