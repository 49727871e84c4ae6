// Brings the clocks of all members onto the clock of one of them, the reference.
// First MakeGroups puts members that share a wall clock (one machine, one boot) into one group; collectives only check
// that the clock was not set in between. Then AlignOthersWith goes outward from the reference, a group at a time: a
// group without a collective in common with the reference is aligned with any member that is already aligned. Example:
// rank 0 and rank 8 share a collective, rank 8 and rank 9 a machine, so rank 9 moves with rank 8.
// Fitting each rank by its collectives alone would be worse on one machine: ranks leave a collective up to milliseconds
// apart, while their wall clock is known within microseconds.
// SPDX-License-Identifier: Apache-2.0
#include "merge/alignment.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/saturating.h"
#include "base/text.h"
#include "merge/group_match.h"
#include "merge/sequence_match.h"

namespace opscope {
namespace {

constexpr int64_t kMinToleranceNs = 50'000;
// The offset that collectives may show on one machine although its clock is right: drivers convert the times of
// devices.
constexpr int64_t kSameClockNs = 100'000;
constexpr int64_t kSameClockErrorNs = 20'000;  // a usual one
// With fewer pairs the residual does not estimate the noise.
constexpr size_t kMinPairsToContradict = 8;
// Below this count ranks of one machine with busy cores may leave collectives in any order.
constexpr size_t kMinPointsToDoubt = 32;
// A residual above this comes from two unrelated runs rather than from two machines.
constexpr int64_t kWorstProofNs = 10'000'000;

size_t PointCount(const ClockMember& member) {
  size_t count = 0;
  for (const auto& [group, points] : member.points)
    count += points.size();
  return count;
}

SyncPoints Mapped(const SyncPoints& points, const ClockMap& map) {
  SyncPoints mapped = points;
  for (auto& [group, list] : mapped) {
    for (SyncPoint& point : list)
      point.time_ns = map.ToReference(point.time_ns);
  }
  return mapped;
}

const char* MismatchReason(MatchOutcome outcome) {
  switch (outcome) {
    case MatchOutcome::kOtherTime:
      return "recorded at another time";
    case MatchOutcome::kContradicts:
      return "its collectives are others";
    case MatchOutcome::kDoesNotFit:
      return "its collectives do not fit in time";
    default:
      return "";
  }
}

// The result of matching the collectives of two members.
struct Comparison {
  MatchOutcome outcome = MatchOutcome::kNothingShared;
  ClockFit fit;  // set, as the following fields, only if kMatched
  std::vector<ClockPair> pairs;
  uint64_t before = 0;
  uint64_t after = 0;
};

Comparison Compare(const SyncPoints& reference, const SyncPoints& own, const ClockBelief& belief) {
  SequenceMatch match = MatchSequences(reference, own, belief);
  Comparison comparison;
  comparison.outcome = match.outcome;
  comparison.before = match.before, comparison.after = match.after;
  if (match.outcome != MatchOutcome::kMatched) return comparison;
  comparison.fit = FitClock(match.pairs);
  const int64_t tolerance = std::max(8 * std::min(comparison.fit.residual_p50_ns, INT64_MAX / 8), kMinToleranceNs);
  comparison.pairs = PairsNear(reference, own, comparison.fit.map, tolerance, match.numbered);
  if (2 * comparison.pairs.size() >= match.pairs.size()) {
    comparison.fit = FitClock(comparison.pairs);
  } else {
    comparison.pairs = std::move(match.pairs);
  }
  if (!comparison.fit.drifts_too_much) return comparison;
  comparison = Comparison();
  comparison.outcome = MatchOutcome::kDoesNotFit;
  return comparison;
}

// A point that one rank recorded late may seem to lie beyond the end of another. The match counts points, not times, so
// its counts are the upper bound.
void CountMissed(const SyncPoints& reference, const ClockMember& member, const Comparison& match, MemberClock* clock) {
  const int64_t first = clock->map.ToReference(member.first_ns), last = clock->map.ToReference(member.last_ns);
  for (const auto& [group, points] : reference) {
    if (!member.points.contains(group)) continue;
    for (const SyncPoint& point : points) {
      clock->missed_before += point.time_ns < first;
      clock->missed_after += point.time_ns > last;
    }
  }
  clock->missed_before = std::min(clock->missed_before, match.before);
  clock->missed_after = std::min(clock->missed_after, match.after);
}

int64_t CorrectionAt(const ClockMap& map, int64_t time_ns) {
  return SaturatingSubtract(map.ToReference(time_ns), time_ns);
}

// The largest move at a matched pair. Outside the pairs a drift that is only noise would extrapolate without limit.
int64_t MaxCorrection(const Comparison& match) {
  int64_t most = 0;
  for (const ClockPair& pair : match.pairs)
    most = std::max(most, SaturatingAbs(CorrectionAt(match.fit.map, pair.own)));
  return most;
}

std::string Micros(int64_t ns) {
  std::string text;
  AppendMicros(&text, ns);
  return text + " us";
}

// Records how far apart the two sides of each collective are by the wall clock.
void SetWallResiduals(const std::vector<ClockPair>& pairs, MemberClock* clock) {
  std::vector<int64_t> distances;
  distances.reserve(pairs.size());
  for (const ClockPair& pair : pairs)
    distances.push_back(DistanceBetween(pair.reference, pair.own));
  std::sort(distances.begin(), distances.end());
  clock->sync_points = pairs.size();
  clock->residual_p50_ns = distances[(distances.size() - 1) / 2];
  clock->residual_p99_ns = distances[(distances.size() - 1) * 99 / 100];
}

class Aligner {
 public:
  Aligner(std::span<const ClockMember> members, int64_t max_difference_ns)
      : members_(members), max_difference_ns_(max_difference_ns) {
    alignment_.clocks.resize(members.size());
  }

  Alignment Run() {
    MakeGroups();
    alignment_.reference = groups_.front().front();
    const ClockMember& reference = members_[alignment_.reference];
    SetAlignment(groups_.front(), ClockSource::kWallClock, {});
    alignment_.clocks[alignment_.reference].source = ClockSource::kReference;
    for (size_t next = 0; next < aligned_.size(); ++next)  // SetAlignment appends; each member is a partner once
      AlignOthersWith(aligned_[next]);
    for (size_t i = 0; i < members_.size(); ++i) {
      MemberClock& clock = alignment_.clocks[i];
      if (clock.source == ClockSource::kNone && members_[i].has_wall_clock && reference.has_wall_clock)
        clock.source = ClockSource::kWallClock;
    }
    return std::move(alignment_);
  }

 private:
  // The member with the most sync points leads its group. The leader of the first group is the reference.
  void MakeGroups() {
    std::vector<size_t> order(members_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto worth = [&](size_t i) { return std::pair(PointCount(members_[i]), members_[i].has_wall_clock); };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return worth(a) > worth(b); });
    for (const size_t i : order) {
      bool has_joined = false;
      for (size_t group = 0; !has_joined && group < groups_.size(); ++group)
        has_joined = TryJoinGroup(&groups_[group], i);
      if (!has_joined) groups_.push_back({i});
    }
  }

  // Appends the member to the group if it shares the wall clock of the group's leader. The member's clock records the
  // comparison; without a common clock it gets only the contradiction.
  bool TryJoinGroup(std::vector<size_t>* group, size_t i) {
    const size_t leader = group->front();
    const ClockMember &first = members_[leader], &member = members_[i];
    if (!first.has_wall_clock || !member.has_wall_clock) return false;
    const std::optional<WallBound> bound = BoundBetween(first.machine, member.machine, max_difference_ns_);
    if (!bound) return false;
    const int64_t error_ns = bound->is_measured ? std::max(bound->bound_ns, kSameClockErrorNs) : kSameClockErrorNs;
    const Comparison match = Compare(first.points, member.points, {max_difference_ns_, error_ns});
    if (match.outcome == MatchOutcome::kOtherTime || match.outcome == MatchOutcome::kContradicts) return false;
    const bool was_set = bound->is_measured && bound->bound_ns > kSameClockNs;
    if (was_set && match.outcome == MatchOutcome::kNothingShared) return false;
    MemberClock clock;
    if (bound->is_measured) clock.wall_bound_ns = bound->bound_ns;
    const bool are_few = std::min(PointCount(first), PointCount(member)) < kMinPointsToDoubt;
    if (match.outcome != MatchOutcome::kDoesNotFit || !are_few) clock.doubt = MismatchReason(match.outcome);
    if (was_set) clock.contradiction = "set between recordings, by up to " + Micros(bound->bound_ns);
    bool shares = true;
    if (match.outcome == MatchOutcome::kMatched) {
      shares = TrustsWallClock(match, *bound, &clock.contradiction);
      CountMissed(first.points, member, match, &clock);
      SetWallResiduals(match.pairs, &clock);
      clock.refused = {CorrectionAt(match.fit.map, member.first_ns), match.fit.map.drift, match.fit.residual_p99_ns};
    }
    if (!shares) {
      alignment_.clocks[i].contradiction = std::move(clock.contradiction);
      return false;
    }
    alignment_.clocks[i] = std::move(clock);
    group->push_back(i);
    return true;
  }

  // Returns true if the wall clock is trusted over the collectives. `contradiction` gets the text for the user if they
  // differ.
  static bool TrustsWallClock(const Comparison& match, const WallBound& bound, std::string* contradiction) {
    const int64_t beyond_noise = MaxCorrection(match) - match.fit.residual_p99_ns;
    if (match.pairs.size() < kMinPairsToContradict || beyond_noise <= kSameClockNs) return true;
    const bool can_be = !bound.is_measured || beyond_noise <= bound.bound_ns;
    const bool holds = !can_be || match.fit.residual_p99_ns >= std::min(bound.bound_ns, kWorstProofNs);
    *contradiction = "collectives are " + Micros(MaxCorrection(match)) + " off; " +
                     (holds ? "the wall clock stands" : "it was set, or is another's");
    return holds;
  }

  void SetAlignment(const std::vector<size_t>& group, ClockSource source, const ClockMap& map) {
    for (const size_t i : group) {
      alignment_.clocks[i].source = source;
      alignment_.clocks[i].map = map;
      if (!alignment_.clocks[i].is_stranger) aligned_.push_back(i);
    }
  }

  void AlignOthersWith(size_t partner) {
    const SyncPoints points = Mapped(members_[partner].points, alignment_.clocks[partner].map);
    for (const std::vector<size_t>& group : groups_) {
      if (alignment_.clocks[group.front()].source != ClockSource::kNone) continue;
      std::vector<Comparison> matches;
      matches.reserve(group.size());
      for (const size_t i : group)
        matches.push_back(CompareWith(partner, points, i));
      MoveTogether(group, points, matches);
    }
  }

  // Records the reason in the member's clock if the outcome is not kMatched.
  Comparison CompareWith(size_t partner, const SyncPoints& points, size_t i) {
    const ClockMember &reference = members_[partner], &member = members_[i];
    MemberClock& clock = alignment_.clocks[i];
    if (clock.is_stranger) return {};
    const bool clocks_compare = reference.has_wall_clock && member.has_wall_clock;
    ClockBelief belief;
    if (clocks_compare) belief.max_difference_ns = max_difference_ns_;
    Comparison match = Compare(points, member.points, belief);
    if (match.outcome != MatchOutcome::kMatched && match.outcome != MatchOutcome::kNothingShared) {
      clock.doubt = MismatchReason(match.outcome);
      clock.is_stranger = match.outcome != MatchOutcome::kDoesNotFit && max_difference_ns_ != kAnyDifference;
    }
    return match;
  }

  // Moves the whole group by the fit of the member with the most matched pairs.
  void MoveTogether(const std::vector<size_t>& group, const SyncPoints& points,
                    const std::vector<Comparison>& matches) {
    const Comparison& best = *std::max_element(matches.begin(), matches.end(), IsWorse);
    if (best.outcome != MatchOutcome::kMatched) return;
    SetAlignment(group, ClockSource::kCollectives, best.fit.map);
    for (size_t k = 0; k < group.size(); ++k) {
      MemberClock& clock = alignment_.clocks[group[k]];
      if (!clock.is_stranger) clock.doubt.clear();
      clock.sync_points = best.pairs.size();
      clock.residual_p50_ns = best.fit.residual_p50_ns;
      clock.residual_p99_ns = best.fit.residual_p99_ns;
      clock.missed_before = clock.missed_after = 0;
      if (matches[k].outcome == MatchOutcome::kMatched) CountMissed(points, members_[group[k]], matches[k], &clock);
    }
  }

  static bool IsWorse(const Comparison& a, const Comparison& b) {
    if (a.pairs.size() != b.pairs.size()) return a.pairs.size() < b.pairs.size();
    return a.fit.residual_p50_ns > b.fit.residual_p50_ns;
  }

  std::span<const ClockMember> members_;
  int64_t max_difference_ns_;
  std::vector<std::vector<size_t>> groups_;  // members that share a wall clock; the leader first
  std::vector<size_t> aligned_;
  Alignment alignment_;
};

}  // namespace

Alignment AlignClocks(std::span<const ClockMember> members, int64_t max_difference_ns) {
  return Aligner(members, max_difference_ns).Run();
}

}  // namespace opscope
