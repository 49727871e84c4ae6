// Fits reference = own + offset + drift * (own - pivot) through pairs of times of the same moments.
// Plain least squares fails: a rank that leaves one collective 5 ms late would move the whole line. So FirstGuess takes
// medians, which tolerate a third of outliers, and FitLine repeats least squares over the pairs within four median
// distances until the line stays put. A drift is kept only if noise could hardly have made it (DriftIsReal) and if a
// crystal can have it (500 ppm).
// Times are first made relative to the middle pair: unix nanoseconds need 61 bits, a double has 53.
// SPDX-License-Identifier: Apache-2.0
#include "merge/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/saturating.h"

namespace opscope {
namespace {

constexpr size_t kMinPairsForDrift = 4;
constexpr size_t kMinPairsForImpossible = 8;
constexpr double kMinRangeForDriftNs = 1e8;
constexpr double kMaxDrift = 500e-6;
constexpr double kMinKeptNs = 1000;  // ns; pairs closer to the line are never outliers
constexpr int kMaxRounds = 8;

// Saturates: times of a damaged file may be any.
int64_t Rounded(double value) {
  return ClampToInt64(std::round(value));
}

struct Point {
  double x;  // own - pivot
  double y;  // reference - own - base
};

double Quantile(std::vector<double> values, double share) {
  const auto at = static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(at), values.end());
  return values[at];
}

struct Line {
  double offset = 0;
  double drift = 0;
  double Distance(const Point& point) const { return std::fabs(point.y - offset - drift * point.x); }
};

std::vector<double> Distances(const std::vector<Point>& points, const Line& line) {
  std::vector<double> distances;
  distances.reserve(points.size());
  for (const Point& point : points)
    distances.push_back(line.Distance(point));
  return distances;
}

// The slope between the medians of the first and the last third tolerates outliers, unlike least squares.
Line FirstGuess(const std::vector<Point>& points, bool with_drift) {
  std::vector<double> all;
  all.reserve(points.size());
  for (const Point& point : points)
    all.push_back(point.y);
  Line line{Quantile(all, 0.5), 0};
  if (!with_drift) return line;
  const auto third = static_cast<ptrdiff_t>(points.size() / 3);
  std::vector<double> x[2], y[2];
  for (ptrdiff_t i = 0; i < std::max<ptrdiff_t>(third, 1); ++i) {
    const Point& first = points[static_cast<size_t>(i)];
    const Point& last = points[points.size() - 1 - static_cast<size_t>(i)];
    x[0].push_back(first.x), y[0].push_back(first.y);
    x[1].push_back(last.x), y[1].push_back(last.y);
  }
  const double run = Quantile(x[1], 0.5) - Quantile(x[0], 0.5);
  if (run > 0) line.drift = (Quantile(y[1], 0.5) - Quantile(y[0], 0.5)) / run;
  std::vector<double> rest;
  rest.reserve(points.size());
  for (const Point& point : points)
    rest.push_back(point.y - line.drift * point.x);
  line.offset = Quantile(rest, 0.5);
  return line;
}

Line LeastSquares(const std::vector<Point>& points, const Line& near, double limit, bool with_drift) {
  double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const Point& point : points) {
    if (near.Distance(point) > limit) continue;
    n += 1, sum_x += point.x, sum_y += point.y, sum_xx += point.x * point.x, sum_xy += point.x * point.y;
  }
  const double spread = n * sum_xx - sum_x * sum_x;
  Line line;
  if (with_drift && spread > 0) line.drift = (n * sum_xy - sum_x * sum_y) / spread;
  line.offset = (sum_y - line.drift * sum_x) / n;
  return line;
}

Line FitLine(const std::vector<Point>& points, bool with_drift) {
  Line line = FirstGuess(points, with_drift);
  for (int round = 0; round < kMaxRounds; ++round) {
    const double limit = std::max(4 * Quantile(Distances(points, line), 0.5), kMinKeptNs);
    const Line next = LeastSquares(points, line, limit, with_drift);
    const bool stands = std::fabs(next.offset - line.offset) < 0.5 && std::fabs(next.drift - line.drift) < 1e-10;
    line = next;
    if (stands) break;
  }
  return line;
}

// True if the drift is at least three times its own standard error.
bool DriftIsReal(const std::vector<Point>& points, const Line& line) {
  constexpr double kDeviationPerMedian = 1.4826;
  double sum_x = 0, sum_xx = 0;
  for (const Point& point : points)
    sum_x += point.x, sum_xx += point.x * point.x;
  const double spread = sum_xx - sum_x * sum_x / static_cast<double>(points.size());
  const double deviation = kDeviationPerMedian * Quantile(Distances(points, line), 0.5);
  return spread > 0 && std::fabs(line.drift) * std::sqrt(spread) >= 3 * deviation;
}

// True if an impossible drift is in the data, and not the effect of a few late collectives in a row (a rank that was
// still warming up): the drift moves the points much further than their distance from the line. REQUIRES: points are in
// order of x.
bool ExceedsNoise(const std::vector<Point>& points, const Line& line) {
  const double moved = std::fabs(line.drift) * (points.back().x - points.front().x);
  return points.size() >= kMinPairsForImpossible && moved >= 32 * Quantile(Distances(points, line), 0.5);
}

}  // namespace

int64_t ClockMap::ToReference(int64_t own_ns) const {
  const int64_t since = WrappingSubtract(own_ns, pivot_ns);
  const int64_t moved = Rounded(drift * static_cast<double>(since));
  return WrappingAdd(WrappingAdd(own_ns, offset_ns), moved);
}

ClockFit FitClock(std::span<const ClockPair> pairs) {
  ClockFit fit;
  fit.map.pivot_ns = pairs[pairs.size() / 2].own;
  const int64_t base = SaturatingSubtract(pairs[pairs.size() / 2].reference, fit.map.pivot_ns);
  std::vector<Point> points;
  points.reserve(pairs.size());
  for (const ClockPair& pair : pairs)
    points.push_back({static_cast<double>(SaturatingSubtract(pair.own, fit.map.pivot_ns)),
                      static_cast<double>(SaturatingSubtract(SaturatingSubtract(pair.reference, pair.own), base))});
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  const bool with_drift =
      points.size() >= kMinPairsForDrift && points.back().x - points.front().x >= kMinRangeForDriftNs;

  Line line = FitLine(points, with_drift);
  if (with_drift && !DriftIsReal(points, line)) line = FitLine(points, false);
  if (std::fabs(line.drift) >= kMaxDrift) {
    fit.drifts_too_much = ExceedsNoise(points, line);
    if (!fit.drifts_too_much) line = FitLine(points, false);
  }
  fit.map.offset_ns = SaturatingAdd(base, Rounded(line.offset));
  fit.map.drift = line.drift;
  const std::vector<double> distances = Distances(points, line);
  fit.residual_p50_ns = Rounded(Quantile(distances, 0.5));
  fit.residual_p99_ns = Rounded(Quantile(distances, 0.99));
  return fit;
}

}  // namespace opscope
