// Two candidates are compared by what speaks for the one and against the other, as a logarithm of probabilities:
// - Times. Under the right candidate the difference of the clocks is a line but for noise. Under a wrong one it holds
//   the program's own variation. The logarithm of the quotient of two spreads of n points has a standard deviation of
//   about 2 / sqrt(n) where there is no difference. One that is z standard deviations large counts z^2 / 2.
// - Windows. Ranks mostly record the same steps: lists that begin or end at different collectives are one of ten each.
// - Clocks. A difference d of clocks that usually differ by e counts log(1 + (d / e)^2): 1 ms against 2 ms decides
//   little, 1 ms against 1 s much.
// Example: 12 all-reduces, one in each step of 3 ms, the clocks 2 ms apart. Laid one step wrong, the clocks would be
// 1 ms apart, for which log(5 / 2) = 0.9 speaks. But one collective at each end would have no partner,
// 2 * log(10) = 4.6, and steps that vary by 3 us under 1 us of noise contradict: z = log(3) * sqrt(11) / 2 = 1.8, so
// 1.7. No part alone would do: a regular program has no variation to compare, a rank may be started late, a clock set
// wrong.
// SPDX-License-Identifier: Apache-2.0
#include "merge/group_match.h"

#include <algorithm>
#include <cmath>

#include "base/saturating.h"

namespace opscope {
namespace {

constexpr int64_t kManyGaps = 8;            // that so many gaps agree is no chance
constexpr int64_t kGoodJitterNs = 100'000;  // gaps that agree this well fit, even in a very regular program
constexpr int64_t kTickNs = 1000;           // times of many files are whole microseconds
constexpr size_t kMinPointsForSlope = 12;   // with fewer, noise would pass for a drift
constexpr double kMaxSlope = 500e-6;        // no clock drifts more
constexpr double kOneOfTen = 2.302585;      // log(10)

// Logarithm of how much more likely the spread of `a` is than that of `b` under the right candidate. Normal
// approximation: the logarithm of a spread of n points has a standard error of about 2 / sqrt(n).
double EvidenceOfTimes(const Candidate& a, const Candidate& b) {
  const auto points = static_cast<double>(std::min({a.overlap, b.overlap, kMaxCompared}));
  const auto log_spread = [](const Candidate& c) {
    return std::log(static_cast<double>(std::max(c.spread_ns, kTickNs)));
  };
  const double z = (log_spread(b) - log_spread(a)) * std::sqrt(points) / 2;
  return std::copysign(z * z / 2, z);
}

// Minus the logarithm of the probability before any time is compared, up to a constant. Each end at which one list has
// points that the other lacks costs a factor of 10; the difference of the clocks has a Cauchy distribution of the scale
// error_ns.
double Unlikelihood(const Candidate& candidate, const ClockBelief& belief) {
  const double of_window =
      kOneOfTen * (static_cast<int>(candidate.begins_apart) + static_cast<int>(candidate.ends_apart));
  if (!belief.max_difference_ns) return of_window;
  const double errors = static_cast<double>(candidate.difference_ns) / static_cast<double>(belief.error_ns);
  return of_window + std::log1p(errors * errors);
}

bool IsLikelier(const Candidate& a, const Candidate& b, const ClockBelief& belief) {
  return EvidenceOfTimes(a, b) + Unlikelihood(b, belief) > Unlikelihood(a, belief);
}

// True if matched points are much nearer to each other than to their predecessors. In a very regular program the gaps
// vary only by the noise of the collectives and so cannot tell one candidate from another.
bool ClocksAgree(const std::vector<ClockPair>& pairs) {
  std::vector<int64_t> distances, gaps;
  for (size_t i = 0; i < pairs.size(); ++i) {
    distances.push_back(DistanceBetween(pairs[i].reference, pairs[i].own));
    if (i > 0) gaps.push_back(SaturatingSubtract(pairs[i].own, pairs[i - 1].own));
  }
  return MedianOf(&distances) <= MedianOf(&gaps) / 4;
}

int64_t DifferenceOf(const ClockPair& pair) {
  return SaturatingSubtract(pair.reference, pair.own);
}

// Of the difference of the clocks, between the medians of the first and the last third.
double SlopeOf(std::span<const ClockPair> pairs, const std::vector<int64_t>& differences) {
  const size_t third = pairs.size() / 3;
  if (pairs.size() < kMinPointsForSlope) return 0;
  std::vector<int64_t> first(differences.begin(), differences.begin() + static_cast<ptrdiff_t>(third));
  std::vector<int64_t> last(differences.end() - static_cast<ptrdiff_t>(third), differences.end());
  const int64_t time = SaturatingSubtract(pairs[pairs.size() - 1 - third / 2].own, pairs[third / 2].own);
  if (time <= 0) return 0;
  const int64_t rise = SaturatingSubtract(MedianOf(&last), MedianOf(&first));
  return std::clamp(static_cast<double>(rise) / static_cast<double>(time), -kMaxSlope, kMaxSlope);
}

// True if the clocks' difference stays near a line. That of two runs wanders: each gap adds its own variation.
bool StaysNearALine(const std::vector<ClockPair>& pairs, int64_t jitter_ns) {
  return !pairs.empty() && FitClock(pairs).residual_p50_ns / 2 <= std::max(jitter_ns, kTickNs);
}

// Median deviation of the gaps: those of unrelated programs would differ by at least this.
int64_t GapVariation(const std::vector<SyncPoint>& points) {
  std::vector<int64_t> gaps;
  for (size_t i = 1; i < std::min(points.size(), static_cast<size_t>(kMaxCompared)); ++i)
    gaps.push_back(SaturatingSubtract(points[i].time_ns, points[i - 1].time_ns));
  std::vector<int64_t> copy = gaps;
  const int64_t median = MedianOf(&copy);
  for (int64_t& gap : gaps)
    gap = DistanceBetween(gap, median);
  return MedianOf(&gaps);
}

}  // namespace

int64_t DistanceBetween(int64_t a, int64_t b) {
  return SaturatingAbs(SaturatingSubtract(a, b));
}

int64_t MedianOf(std::vector<int64_t>* values) {
  if (values->empty()) return 0;
  const auto middle = values->begin() + static_cast<ptrdiff_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  return *middle;
}

void MeasureJitter(std::span<const ClockPair> pairs, Candidate* candidate) {
  std::vector<int64_t> changes;
  changes.reserve(pairs.size());
  for (size_t i = 1; i < pairs.size(); ++i)
    changes.push_back(DistanceBetween(DifferenceOf(pairs[i]), DifferenceOf(pairs[i - 1])));
  candidate->jitter_ns = candidate->spread_ns = MedianOf(&changes);
  // Of three: a single collective may have ended late.
  const size_t middle = pairs.size() / 2;
  std::vector<int64_t> three;
  for (size_t i = std::max<size_t>(middle, 1) - 1; i < std::min(pairs.size(), middle + 2); ++i)
    three.push_back(DifferenceOf(pairs[i]));
  candidate->difference_ns = MedianOf(&three);
}

void MeasureSpread(std::span<const ClockPair> pairs, Candidate* candidate) {
  const size_t compared = std::min(pairs.size(), static_cast<size_t>(kMaxCompared));
  pairs = pairs.subspan((pairs.size() - compared) / 2, compared);
  std::vector<int64_t> differences;
  differences.reserve(pairs.size());
  for (const ClockPair& pair : pairs)
    differences.push_back(DifferenceOf(pair));
  const double slope = SlopeOf(pairs, differences);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto time = static_cast<double>(SaturatingSubtract(pairs[i].own, pairs.front().own));
    differences[i] = SaturatingSubtract(differences[i], static_cast<int64_t>(slope * time));
  }
  std::vector<int64_t> copy = differences;
  const int64_t line = MedianOf(&copy);
  for (int64_t& difference : differences)
    difference = DistanceBetween(difference, line);
  // The difference may jump between two values, of which one is the median.
  candidate->spread_ns = std::max(candidate->spread_ns, MedianOf(&differences));
}

// A jitter is at most the spread, so a candidate that loses by its jitter loses by its spread.
Candidate ChooseCandidate(std::span<const Candidate> candidates, const ClockBelief& belief,
                          const PairsOfCandidate& pairs_of) {
  std::vector<const Candidate*> order;
  order.reserve(candidates.size());
  for (const Candidate& candidate : candidates)
    order.push_back(&candidate);
  std::stable_sort(order.begin(), order.end(),
                   [](const Candidate* a, const Candidate* b) { return a->overlap > b->overlap; });
  Candidate best = *order.front();
  MeasureSpread(pairs_of(best), &best);
  for (const Candidate* candidate : order) {
    if (!IsLikelier(*candidate, best, belief)) continue;
    Candidate measured = *candidate;
    MeasureSpread(pairs_of(measured), &measured);
    if (IsLikelier(measured, best, belief)) best = measured;
  }
  return best;
}

// Many gaps that agree outweigh a wall clock that contradicts them, for it may be set wrong.
std::optional<Candidate> FindFitting(std::span<const Candidate> candidates, const std::vector<SyncPoint>& reference,
                                     const ClockBelief& belief, bool is_numbered, const PairsOfCandidate& pairs_of,
                                     MatchOutcome* outcome) {
  const int64_t variation = GapVariation(reference);
  std::vector<Candidate> in_time;
  for (const Candidate& candidate : candidates) {
    if (!belief.max_difference_ns || SaturatingAbs(candidate.difference_ns) <= *belief.max_difference_ns)
      in_time.push_back(candidate);
  }
  if (!in_time.empty()) {
    const Candidate best = ChooseCandidate(in_time, belief, pairs_of);
    if (best.jitter_ns <= std::max(kGoodJitterNs, variation / 2)) return best;
    const Candidate nearest = *std::min_element(in_time.begin(), in_time.end(), [](const auto& a, const auto& b) {
      return SaturatingAbs(a.difference_ns) < SaturatingAbs(b.difference_ns);
    });
    if (ClocksAgree(pairs_of(nearest))) return nearest;
    if (is_numbered && StaysNearALine(pairs_of(best), best.jitter_ns)) return best;
  } else if (!candidates.empty()) {
    const Candidate best = ChooseCandidate(candidates, {}, pairs_of);
    if (best.overlap >= kManyGaps && best.jitter_ns < variation / 4) return best;
  }
  *outcome = !in_time.empty()      ? MatchOutcome::kDoesNotFit
             : !candidates.empty() ? MatchOutcome::kOtherTime
                                   : MatchOutcome::kContradicts;
  return std::nullopt;
}

}  // namespace opscope
