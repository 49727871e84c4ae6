// Student's t distribution with a real number of degrees of freedom, as Welch's test needs it. Boost.Math computes it;
// its headers stay in student_t.cc, because they take seconds to compile.
//
//   TwoSidedP(2.776, 4)     0.05
//   StudentQuantile975(4)   2.776
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope {

// The probability that |T| is at least |t|: 1 for t = 0, 0 for infinity. Relative error below 1e-12, except that a
// probability that double cannot represent becomes 0. REQUIRES: freedom > 0.
[[nodiscard]] double TwoSidedP(double t, double freedom);

// The t that T exceeds with probability 0.025. Relative error below 1e-12. REQUIRES: freedom >= 1.
[[nodiscard]] double StudentQuantile975(double freedom);

}  // namespace opscope
