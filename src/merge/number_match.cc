// A group's numbers begin again with every new start of the program, so a list consists of runs without a repeated
// number. Mostly there is one, and points with equal numbers are the same. Where one rank lacks a run, several ways to
// lay runs onto runs remain:
//   reference  0 1 2 3 | 0 1 2 3 4       own  1 2 3 4       its run is the first or the second; FindFitting chooses
// A run ends before a number that it already has, or that is smaller than all of its numbers. Any other number out of
// order is that of a collective which ended late.
// SPDX-License-Identifier: Apache-2.0
#include "merge/number_match.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/saturating.h"

namespace opscope {
namespace {

constexpr size_t kMaxRuns = 64;  // a program is not started more often; the numbers then mean something else

struct NumberedPoint {
  int64_t number;
  size_t index;  // of the list
};

using Run = std::vector<NumberedPoint>;  // by number, of which none is twice

// Empty: a point has no number, or there are too many runs.
std::vector<Run> RunsOf(const std::vector<SyncPoint>& points) {
  std::vector<Run> runs;
  std::set<int64_t> of_run;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!points[i].number) return {};
    const int64_t number = *points[i].number;
    if (runs.empty() || number < *of_run.begin() || of_run.contains(number)) {
      if (runs.size() == kMaxRuns) return {};
      runs.emplace_back();
      of_run.clear();
    }
    of_run.insert(of_run.end(), number);
    runs.back().push_back({number, i});
  }
  for (Run& run : runs)
    std::sort(run.begin(), run.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return runs;
}

// The part of a run in [first, last].
std::span<const NumberedPoint> Between(const Run& run, int64_t first, int64_t last) {
  const auto begin = std::partition_point(run.begin(), run.end(), [&](const auto& p) { return p.number < first; });
  const auto end = std::partition_point(begin, run.end(), [&](const auto& p) { return p.number <= last; });
  return {begin, end};
}

class NumberMatcher {
 public:
  NumberMatcher(const std::vector<SyncPoint>& reference, const std::vector<SyncPoint>& own)
      : reference_(reference), own_(own), reference_runs_(RunsOf(reference)), own_runs_(RunsOf(own)) {}

  std::optional<GroupMatch> Match(const ClockBelief& belief) const {
    if (reference_runs_.empty() || own_runs_.empty()) return std::nullopt;
    bool have_common = false, are_whole = false;
    std::vector<Candidate> candidates;
    const auto n = static_cast<int64_t>(reference_runs_.size()), m = static_cast<int64_t>(own_runs_.size());
    for (int64_t shift = 1 - m; shift < n; ++shift) {
      const Laid laid = Lay(shift);
      const size_t common = laid.same.size() + laid.others;
      have_common |= common > 0;
      if (laid.same.empty() || static_cast<double>(laid.others) > kMaxOtherLabels * static_cast<double>(common))
        continue;
      candidates.push_back(CandidateOf(shift, laid));
      are_whole |= laid.is_whole;
    }
    GroupMatch match;
    if (!have_common) {
      if (belief.max_difference_ns && TimeBetween() > *belief.max_difference_ns)
        match.outcome = MatchOutcome::kOtherTime;
      return match;
    }
    const auto pairs_of = [this](const Candidate& candidate) { return PairsOf(Lay(candidate.shift)); };
    const auto best = FindFitting(candidates, reference_, belief, true, pairs_of, &match.outcome);
    if (!best) return are_whole ? std::optional(match) : std::nullopt;
    const Laid laid = Lay(best->shift);
    match.outcome = MatchOutcome::kMatched;
    match.pairs = PairsOf(laid);
    match.before = Excess(laid.same.front().second, laid.same.front().first);
    match.after = Excess(reference_.size() - laid.same.back().second, own_.size() - laid.same.back().first);
    return match;
  }

 private:
  // Run j of `own` laid onto run j + shift of `reference`.
  struct Laid {
    std::vector<std::pair<size_t, size_t>> same;  // rows of `own` and of `reference`, by time
    size_t others = 0;                            // equal numbers with different labels
    bool is_whole = false;                        // each list has 9 of 10 numbers of the common range
  };

  Laid Lay(int64_t shift) const {
    Laid laid;
    size_t of_reference = 0, of_own = 0;
    for (size_t j = 0; j < own_runs_.size(); ++j) {
      const int64_t k = static_cast<int64_t>(j) + shift;
      if (k < 0 || k >= static_cast<int64_t>(reference_runs_.size())) continue;
      const Run &a = own_runs_[j], &b = reference_runs_[static_cast<size_t>(k)];
      const int64_t first = std::max(a.front().number, b.front().number);
      const int64_t last = std::min(a.back().number, b.back().number);
      if (first > last) continue;
      const std::span<const NumberedPoint> own = Between(a, first, last), reference = Between(b, first, last);
      of_own += own.size(), of_reference += reference.size();
      Join(own, reference, &laid);
    }
    std::sort(laid.same.begin(), laid.same.end());
    const size_t all = of_own + of_reference - laid.same.size() - laid.others;
    laid.is_whole = 10 * std::min(of_own, of_reference) >= 9 * all;
    return laid;
  }

  void Join(std::span<const NumberedPoint> own, std::span<const NumberedPoint> reference, Laid* laid) const {
    for (size_t i = 0, k = 0; i < own.size() && k < reference.size();) {
      if (own[i].number != reference[k].number) {
        ++(own[i].number < reference[k].number ? i : k);
        continue;
      }
      if (own_[own[i].index].label == reference_[reference[k].index].label) {
        laid->same.emplace_back(own[i].index, reference[k].index);
      } else {
        ++laid->others;
      }
      ++i, ++k;
    }
  }

  Candidate CandidateOf(int64_t shift, const Laid& laid) const {
    const std::vector<ClockPair> pairs = PairsOf(laid);
    const size_t compared = std::min(pairs.size(), static_cast<size_t>(kMaxCompared));
    const std::span<const ClockPair> all = pairs;
    Candidate candidate{.shift = shift,
                        .overlap = static_cast<int64_t>(pairs.size()),
                        .begins_apart = laid.same.front() != std::pair<size_t, size_t>(0, 0),
                        .ends_apart = laid.same.back() != std::pair(own_.size() - 1, reference_.size() - 1)};
    MeasureJitter(all.subspan((pairs.size() - compared) / 2, compared), &candidate);
    return candidate;
  }

  std::vector<ClockPair> PairsOf(const Laid& laid) const {
    std::vector<ClockPair> pairs;
    pairs.reserve(laid.same.size());
    for (const auto& [own, reference] : laid.same)
      pairs.push_back({own_[own].time_ns, reference_[reference].time_ns});
    return pairs;
  }

  // The gap between two lists by the wall clocks; negative if they overlap.
  int64_t TimeBetween() const {
    return std::max(SaturatingSubtract(own_.front().time_ns, reference_.back().time_ns),
                    SaturatingSubtract(reference_.front().time_ns, own_.back().time_ns));
  }

  static uint64_t Excess(size_t of_reference, size_t of_own) {
    return of_reference > of_own ? of_reference - of_own : 0;
  }

  const std::vector<SyncPoint>& reference_;
  const std::vector<SyncPoint>& own_;
  std::vector<Run> reference_runs_, own_runs_;
};

}  // namespace

std::optional<GroupMatch> MatchByNumber(const std::vector<SyncPoint>& reference, const std::vector<SyncPoint>& own,
                                        const ClockBelief& belief) {
  return NumberMatcher(reference, own).Match(belief);
}

}  // namespace opscope
