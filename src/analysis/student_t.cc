// SPDX-License-Identifier: Apache-2.0
#include "analysis/student_t.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace opscope {
namespace {

namespace policies = boost::math::policies;

// Nothing throws; what has no answer is not a number, or infinite. Calculating in long double costs ten times as much
// and adds no digit that a double could hold.
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;
using StudentT = boost::math::students_t_distribution<double, Quiet>;

}  // namespace

double TwoSidedP(double t, double freedom) {
  return 2 * cdf(complement(StudentT(freedom), std::abs(t)));
}

double StudentQuantile975(double freedom) {
  return quantile(complement(StudentT(freedom), 0.025));
}

}  // namespace opscope
