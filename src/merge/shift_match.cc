// Both ranks list the collectives of a group in order, with kind and size as label, but recording may have begun at
// different ones. So every shift of one list against the other is tried; under the right one the labels agree and the
// difference of the clocks stays constant from point to point:
//   reference   A B A A C A B        own      A A C A B        shift 2: all labels agree
// Labels alone do not decide, because a training loop repeats the same collectives each step; FindFitting chooses among
// the shifts under which they agree.
// O(n * m) label comparisons, of which a wrong shift ends after some; at most 512 points are compared per shift.
// SPDX-License-Identifier: Apache-2.0
#include "merge/shift_match.h"

#include <algorithm>

namespace opscope {
namespace {

using Points = std::vector<SyncPoint>;

// Point j of `own` is point j + shift of `reference`.
class Shifter {
 public:
  Shifter(const Points& reference, const Points& own, bool uses_numbers)
      : reference_(reference), own_(own), uses_numbers_(uses_numbers) {
    const auto shorter = static_cast<int64_t>(std::min(reference.size(), own.size()));
    min_overlap_ = std::min(shorter, std::max<int64_t>(3, shorter / 4));
  }

  GroupMatch Match(const ClockBelief& belief) {
    GroupMatch match;
    const auto pairs_of = [this](const Candidate& candidate) { return PairsOf(candidate); };
    const auto best = FindFitting(Fitting(), reference_, belief, uses_numbers_, pairs_of, &match.outcome);
    if (!best) return match;
    match.outcome = MatchOutcome::kMatched;
    match.pairs = PairsOf(*best);
    const auto sizes = static_cast<int64_t>(reference_.size()) - static_cast<int64_t>(own_.size());
    match.before = static_cast<uint64_t>(std::max<int64_t>(0, best->shift));
    match.after = static_cast<uint64_t>(std::max<int64_t>(0, sizes - best->shift));
    return match;
  }

 private:
  // The shifts under which the labels agree.
  std::vector<Candidate> Fitting() {
    std::vector<Candidate> fitting;
    const auto n = static_cast<int64_t>(reference_.size()), m = static_cast<int64_t>(own_.size());
    for (int64_t shift = min_overlap_ - m; shift <= n - min_overlap_; ++shift) {
      Candidate candidate{.shift = shift,
                          .overlap = std::min(m, n - shift) - std::max<int64_t>(0, -shift),
                          .begins_apart = shift != 0,
                          .ends_apart = shift != n - m};
      if (!Compare(candidate)) continue;
      MeasureJitter(compared_, &candidate);
      fitting.push_back(candidate);
    }
    return fitting;
  }

  bool IsSame(int64_t j, int64_t shift) const {
    const SyncPoint& own = own_[static_cast<size_t>(j)];
    const SyncPoint& reference = reference_[static_cast<size_t>(j + shift)];
    const bool contradict = uses_numbers_ && own.number && reference.number && *own.number != *reference.number;
    return own.label == reference.label && !contradict;
  }

  ClockPair PairAt(int64_t j, int64_t shift) const {
    return {own_[static_cast<size_t>(j)].time_ns, reference_[static_cast<size_t>(j + shift)].time_ns};
  }

  // The pairs that are compared. False if the labels do not agree.
  bool Compare(const Candidate& candidate) {
    const int64_t shift = candidate.shift;
    const int64_t compared = std::min(candidate.overlap, kMaxCompared);
    const int64_t first = std::max<int64_t>(0, -shift) + (candidate.overlap - compared) / 2;
    int64_t others = 0;
    compared_.clear();
    for (int64_t j = first; j < first + compared; ++j) {
      if (!IsSame(j, shift) && static_cast<double>(++others) > kMaxOtherLabels * static_cast<double>(compared))
        return false;
      compared_.push_back(PairAt(j, shift));
    }
    return true;
  }

  std::vector<ClockPair> PairsOf(const Candidate& candidate) const {
    std::vector<ClockPair> pairs;
    const int64_t first = std::max<int64_t>(0, -candidate.shift);
    for (int64_t j = first; j < first + candidate.overlap; ++j) {
      if (IsSame(j, candidate.shift)) pairs.push_back(PairAt(j, candidate.shift));
    }
    return pairs;
  }

  const Points& reference_;
  const Points& own_;
  bool uses_numbers_;
  int64_t min_overlap_ = 1;
  std::vector<ClockPair> compared_;
};

}  // namespace

GroupMatch MatchByShift(const Points& reference, const Points& own, const ClockBelief& belief, bool uses_numbers) {
  return Shifter(reference, own, uses_numbers).Match(belief);
}

}  // namespace opscope
