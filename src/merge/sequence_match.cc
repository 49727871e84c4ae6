// Finds which sync points of two ranks are the same moments.
// Both ranks list the collectives of a group in order, with kind and size as label, but recording may have begun at
// different ones. So every shift of one list against the other is tried; under the right one the labels agree and the
// difference of the clocks stays constant from point to point:
//   reference   A B A A C A B        own      A A C A B        shift 2: all labels agree
// Labels alone do not decide, because a training loop repeats the same collectives each step. The jitter (median change
// of the difference) does: under a wrong shift the gaps between collectives differ by the program's own variation. If
// the wall clocks are comparable, the shift with the smallest clock difference wins among those that fit.
// O(n * m) label comparisons, of which a wrong shift ends after some; at most 512 points are compared per shift.
// SPDX-License-Identifier: Apache-2.0
#include "merge/sequence_match.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"

namespace opscope {
namespace {

constexpr size_t kMaxCompared = 512;        // points compared per shift, from the middle of the overlap
constexpr double kMaxOtherLabels = 0.05;    // accepted share of different labels: a recording may lack some collectives
constexpr int64_t kManyGaps = 8;            // that so many gaps agree is no chance
constexpr int64_t kGoodJitterNs = 100'000;  // gaps that agree this well fit, even in a very regular program

using Points = std::vector<SyncPoint>;

// Point j of `own` is point j + shift of `reference`.
struct Shift {
  int64_t shift = 0;
  int64_t overlap = 0;
  int64_t jitter_ns = 0;      // median change of the clocks' difference from one point to the next
  int64_t difference_ns = 0;  // reference minus own clock in the middle of the overlap
};

int64_t DistanceBetween(int64_t a, int64_t b) {
  return SaturatingAbs(SaturatingSubtract(a, b));
}

int64_t Median(std::vector<int64_t>* values) {
  if (values->empty()) return 0;
  const auto middle = values->begin() + static_cast<ptrdiff_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  return *middle;
}

class Shifter {
 public:
  Shifter(const Points& reference, const Points& own) : reference_(reference), own_(own) {
    const auto shorter = static_cast<int64_t>(std::min(reference.size(), own.size()));
    min_overlap_ = std::min(shorter, std::max<int64_t>(3, shorter / 4));
  }

  // The best shift; without one, `outcome` gets the reason. Many gaps that agree outweigh a wall clock that contradicts
  // them, for it may be set wrong.
  std::optional<Shift> Best(std::optional<int64_t> max_difference, MatchOutcome* outcome) {
    const int64_t variation = GapVariation();
    const std::vector<Shift> fitting = Fitting();
    std::vector<Shift> in_time;
    for (const Shift& shift : fitting) {
      if (!max_difference || SaturatingAbs(shift.difference_ns) <= *max_difference) in_time.push_back(shift);
    }
    if (!in_time.empty()) {
      const Shift best = Choose(in_time, max_difference.has_value());
      if (best.jitter_ns <= std::max(kGoodJitterNs, variation / 2)) return best;
      const Shift nearest = *std::min_element(in_time.begin(), in_time.end(), [](const Shift& a, const Shift& b) {
        return SaturatingAbs(a.difference_ns) < SaturatingAbs(b.difference_ns);
      });
      if (ClocksAgree(nearest)) return nearest;
    } else if (!fitting.empty()) {
      const Shift best = Choose(fitting, false);
      if (best.overlap >= kManyGaps && best.jitter_ns < variation / 4) return best;
    }
    *outcome = !in_time.empty()   ? MatchOutcome::kDoesNotFit
               : !fitting.empty() ? MatchOutcome::kOtherTime
                                  : MatchOutcome::kContradicts;
    return std::nullopt;
  }

  void AddPairs(const Shift& shift, std::vector<ClockPair>* pairs) const {
    const int64_t first = std::max<int64_t>(0, -shift.shift);
    for (int64_t j = first; j < first + shift.overlap; ++j) {
      const SyncPoint& own = own_[static_cast<size_t>(j)];
      const SyncPoint& reference = reference_[static_cast<size_t>(j + shift.shift)];
      if (own.label == reference.label) pairs->push_back({own.time_ns, reference.time_ns});
    }
  }

 private:
  // The shifts under which the labels agree.
  std::vector<Shift> Fitting() {
    std::vector<Shift> fitting;
    const auto n = static_cast<int64_t>(reference_.size()), m = static_cast<int64_t>(own_.size());
    for (int64_t shift = min_overlap_ - m; shift <= n - min_overlap_; ++shift) {
      const int64_t first = std::max<int64_t>(0, -shift);
      Shift candidate{shift, std::min(m, n - shift) - first, 0, 0};
      candidate.difference_ns = DifferenceInTheMiddle(first, candidate.overlap, shift);
      if (Compare(&candidate)) fitting.push_back(candidate);
    }
    return fitting;
  }

  // The median of three points: a single collective may have ended late.
  int64_t DifferenceInTheMiddle(int64_t first, int64_t overlap, int64_t shift) const {
    const int64_t middle = first + overlap / 2;
    std::vector<int64_t> differences;
    for (int64_t j = std::max(first, middle - 1); j < std::min(first + overlap, middle + 2); ++j)
      differences.push_back(DifferenceAt(j, shift));
    return Median(&differences);
  }

  static int64_t GapBefore(const Points& points, size_t i) {
    return SaturatingSubtract(points[i].time_ns, points[i - 1].time_ns);
  }

  int64_t DifferenceAt(int64_t j, int64_t shift) const {
    return SaturatingSubtract(reference_[static_cast<size_t>(j + shift)].time_ns, own_[static_cast<size_t>(j)].time_ns);
  }

  // Sets jitter_ns. False if the labels do not agree.
  bool Compare(Shift* shift) {
    const int64_t compared = std::min<int64_t>(shift->overlap, kMaxCompared);
    const int64_t first = std::max<int64_t>(0, -shift->shift) + (shift->overlap - compared) / 2;
    int64_t others = 0;
    changes_.clear();
    for (int64_t j = first; j < first + compared; ++j) {
      const bool same = own_[static_cast<size_t>(j)].label == reference_[static_cast<size_t>(j + shift->shift)].label;
      if (!same && static_cast<double>(++others) > kMaxOtherLabels * static_cast<double>(compared)) return false;
      if (j > first)
        changes_.push_back(DistanceBetween(DifferenceAt(j, shift->shift), DifferenceAt(j - 1, shift->shift)));
    }
    shift->jitter_ns = Median(&changes_);
    return true;
  }

  // Among shifts whose jitter is close to the least, the one with the smallest clock difference if clocks count, else
  // the longest overlap. Clocks have a generous limit because a few steps of a regular program fit under many shifts.
  static Shift Choose(const std::vector<Shift>& fitting, bool clocks_count) {
    int64_t least = INT64_MAX;
    for (const Shift& shift : fitting)
      least = std::min(least, shift.jitter_ns);
    const int64_t near = std::min(least, INT64_MAX / 8);  // so that no limit overflows
    const int64_t limit =
        std::max(least, clocks_count ? std::max(4 * near, kGoodJitterNs) : near + near / 2 + int64_t{2000});
    const Shift* best = nullptr;
    for (const Shift& shift : fitting) {
      if (shift.jitter_ns > limit) continue;
      const bool better =
          best == nullptr || (clocks_count ? SaturatingAbs(shift.difference_ns) < SaturatingAbs(best->difference_ns)
                                           : shift.overlap > best->overlap);
      if (better) best = &shift;
    }
    return *best;
  }

  // True if matched points are much nearer to each other than to their predecessors. In a very regular program the gaps
  // vary only by the noise of the collectives and so cannot tell one shift from another.
  bool ClocksAgree(const Shift& shift) const {
    std::vector<int64_t> distances, gaps;
    const int64_t first = std::max<int64_t>(0, -shift.shift);
    for (int64_t j = first; j < first + shift.overlap; ++j) {
      distances.push_back(SaturatingAbs(DifferenceAt(j, shift.shift)));
      if (j > first) gaps.push_back(GapBefore(own_, static_cast<size_t>(j)));
    }
    return Median(&distances) <= Median(&gaps) / 4;
  }

  // Median deviation of the reference's gaps: the gaps of unrelated programs would differ by at least this.
  int64_t GapVariation() const {
    std::vector<int64_t> gaps;
    for (size_t i = 1; i < std::min(reference_.size(), kMaxCompared); ++i)
      gaps.push_back(GapBefore(reference_, i));
    std::vector<int64_t> copy = gaps;
    const int64_t median = Median(&copy);
    for (int64_t& gap : gaps)
      gap = DistanceBetween(gap, median);
    return Median(&gaps);
  }

  const Points& reference_;
  const Points& own_;
  int64_t min_overlap_ = 1;
  std::vector<int64_t> changes_;
};

}  // namespace

SequenceMatch MatchSequences(const SyncPoints& reference, const SyncPoints& own,
                             std::optional<int64_t> max_difference_ns) {
  SequenceMatch match;
  for (const auto& [group, points] : own) {
    const auto same = reference.find(group);
    if (same == reference.end() || points.empty() || same->second.empty()) continue;
    Shifter shifter(same->second, points);
    MatchOutcome outcome = MatchOutcome::kNothingShared;
    if (const std::optional<Shift> best = shifter.Best(max_difference_ns, &outcome)) {
      shifter.AddPairs(*best, &match.pairs);
      const auto sizes = static_cast<int64_t>(same->second.size()) - static_cast<int64_t>(points.size());
      match.before += static_cast<uint64_t>(std::max<int64_t>(0, best->shift));
      match.after += static_cast<uint64_t>(std::max<int64_t>(0, sizes - best->shift));
      match.outcome = MatchOutcome::kMatched;
    } else if (match.outcome != MatchOutcome::kMatched) {
      // An unnamed group may mix the collectives of several groups in one sequence.
      if (group.empty() && outcome == MatchOutcome::kContradicts) outcome = MatchOutcome::kDoesNotFit;
      match.outcome = std::max(match.outcome, outcome);
    }
  }
  if (!match.pairs.empty()) match.outcome = MatchOutcome::kMatched;
  return match;
}

std::vector<ClockPair> PairsNear(const SyncPoints& reference, const SyncPoints& own, const ClockMap& map,
                                 int64_t tolerance_ns) {
  std::vector<ClockPair> pairs;
  for (const auto& [group, points] : own) {
    const auto same = reference.find(group);
    if (same == reference.end()) continue;
    std::vector<std::pair<uint64_t, int64_t>> candidates;  // label and time
    candidates.reserve(same->second.size());
    for (const SyncPoint& point : same->second)
      candidates.emplace_back(point.label, point.time_ns);
    std::sort(candidates.begin(), candidates.end());
    for (const SyncPoint& point : points) {
      const int64_t expected = map.ToReference(point.time_ns);
      const auto distance = [expected](const auto& candidate) { return DistanceBetween(candidate->second, expected); };
      const auto after = std::lower_bound(candidates.begin(), candidates.end(), std::pair(point.label, expected));
      auto nearest = candidates.end();
      if (after != candidates.begin() && (after - 1)->first == point.label) nearest = after - 1;
      if (after != candidates.end() && after->first == point.label &&
          (nearest == candidates.end() || distance(after) < distance(nearest)))
        nearest = after;
      if (nearest != candidates.end() && distance(nearest) <= tolerance_ns)
        pairs.push_back({point.time_ns, nearest->second});
    }
  }
  return pairs;
}

}  // namespace opscope
