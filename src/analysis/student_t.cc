// Student's t distribution by the regularised incomplete beta function. With x = v / (v + t^2):
//
//   P(|T| >= |t|) = I_x(v/2, 1/2)       t = 2.776, v = 4: x = 0.3417, I_x(2, 1/2) = 0.0500
//
// I_x(a, b) is x^a (1-x)^b / (a B(a, b)) times a continued fraction (DLMF 8.17.22), which converges in O(sqrt(a + b))
// terms for x < (a + 1) / (a + b + 2); beyond that, I_x(a, b) = 1 - I_{1-x}(b, a).
//
// The usual way takes B(a, b) from lgamma. For a million degrees of freedom lgamma is about 10^7, and the difference of
// two such numbers leaves 9 digits. One argument is always 1/2, so the ratio of two gamma functions is enough, which
// has an asymptotic series without cancellation. std::lgamma also writes a global variable, which threads may not
// share.
//
// The quantile is Newton's method on the distribution. The distribution is concave for t > 0, so that from a start
// below the root each step comes closer without passing it.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/student_t.h"

#include <algorithm>
#include <cmath>

namespace opscope {
namespace {

using Real = long double;

constexpr Real kPi = 3.141592653589793238462643L, kNormalQuantile975 = 1.959963984540054235525L;

// Gamma(a + 1/2) / Gamma(a), by the series of its logarithm for large a; Gamma(a + 1) = a Gamma(a) leads there.
Real GammaRatio(Real a) {
  Real factor = 1;
  for (; a < 48; ++a)
    factor *= a / (a + 0.5L);
  const Real u = 1 / a, u2 = u * u;
  const Real log_ratio = u * (-1.0L / 8 + u2 * (1.0L / 192 + u2 * (-1.0L / 640 + u2 * 17.0L / 14336)));
  return factor * std::sqrt(a) * std::exp(log_ratio);
}

// The continued fraction of I_x(a, b), by Lentz's method. REQUIRES: x < (a + 1) / (a + b + 2), nearly.
Real BetaFraction(Real a, Real b, Real x) {
  constexpr Real kTiny = 1e-300L;
  const auto nonzero = [](Real value) { return std::abs(value) < kTiny ? kTiny : value; };
  const Real most = std::min<Real>(1e6L, 200 + 20 * std::sqrt(std::max(a, b)));
  Real c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (Real m = 1; m < most; ++m) {
    const Real even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    fraction *= d * c;
    const Real odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-17L) break;
  }
  return fraction;
}

// The density at 0 times sqrt(freedom): Gamma((v + 1) / 2) / (Gamma(v / 2) sqrt(pi)).
Real PeakFactor(Real freedom) {
  return GammaRatio(freedom / 2) / std::sqrt(kPi);
}

Real TwoSided(Real t, Real freedom) {
  const Real a = freedom / 2, ratio = t * t / freedom;
  // x^a (1-x)^(1/2) / B(a, 1/2), where x = 1 / (1 + ratio)
  const Real front = std::exp(-a * std::log1p(ratio)) * std::sqrt(ratio / (1 + ratio)) * PeakFactor(freedom);
  if (1 / (1 + ratio) < (a + 1) / (a + 2.5L)) return front * BetaFraction(a, 0.5L, 1 / (1 + ratio)) / a;
  return 1 - front * BetaFraction(0.5L, a, ratio / (1 + ratio)) / 0.5L;
}

}  // namespace

double TwoSidedP(double t, double freedom) {
  return std::isfinite(t * t) ? static_cast<double>(TwoSided(t, freedom)) : 0;
}

double StudentQuantile975(double freedom) {
  constexpr Real z = kNormalQuantile975, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, z9 = z7 * z * z;
  const Real v = freedom, u = 1 / v, peak = PeakFactor(v) * std::sqrt(u);
  // The expansion for many degrees of freedom (Abramowitz and Stegun 26.7.5), which is less than the quantile.
  Real t = z + u * ((z3 + z) / 4 + u * ((5 * z5 + 16 * z3 + 3 * z) / 96 +
                                        u * ((3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384 +
                                             u * (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / 92160)));
  for (int step = 0; step < 60; ++step) {
    const Real density = peak * std::exp(-(v + 1) / 2 * std::log1p(t * t / v));
    const Real change = (TwoSided(t, v) / 2 - 0.025L) / density;
    t += change;
    if (std::abs(change) < 1e-7L * t) break;  // the error is now about the square of that
  }
  return static_cast<double>(t);
}

}  // namespace opscope
