// From the reference outward: a member that shares no group with the reference is aligned with one that is aligned.
// SPDX-License-Identifier: Apache-2.0
#include "merge/alignment.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "merge/sequence_match.h"

namespace opscope {
namespace {

constexpr int64_t kMinToleranceNs = 50'000;

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

const char* DoubtOf(MatchOutcome outcome) {
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

void CountMissed(const SyncPoints& reference, const ClockMember& member, MemberClock* clock) {
  const int64_t first = clock->map.ToReference(member.first_ns), last = clock->map.ToReference(member.last_ns);
  for (const auto& [group, points] : reference) {
    if (!member.points.contains(group)) continue;
    for (const SyncPoint& point : points) {
      clock->missed_before += point.time_ns < first;
      clock->missed_after += point.time_ns > last;
    }
  }
}

// True when it worked; otherwise `clock` says what is against it.
bool AlignWith(const SyncPoints& reference, bool clocks_compare, const ClockMember& member, int64_t max_difference_ns,
               MemberClock* clock) {
  const SequenceMatch match = MatchSequences(reference, member.points,
                                             clocks_compare ? std::optional<int64_t>(max_difference_ns) : std::nullopt);
  if (match.outcome != MatchOutcome::kMatched) {
    if (match.outcome == MatchOutcome::kNothingShared) return false;
    clock->doubt = DoubtOf(match.outcome);
    clock->is_stranger = match.outcome != MatchOutcome::kDoesNotFit;
    return false;
  }
  ClockFit fit = FitClock(match.pairs);
  const int64_t tolerance = std::max(8 * fit.residual_p50_ns, kMinToleranceNs);
  std::vector<ClockPair> pairs = PairsNear(reference, member.points, fit.map, tolerance);
  if (2 * pairs.size() >= match.pairs.size()) {
    fit = FitClock(pairs);
  } else {
    pairs = match.pairs;
  }
  *clock = {};
  clock->source = ClockSource::kCollectives;
  clock->map = fit.map;
  clock->sync_points = pairs.size();
  clock->residual_p50_ns = fit.residual_p50_ns;
  clock->residual_p99_ns = fit.residual_p99_ns;
  CountMissed(reference, member, clock);
  // A point that one rank saw late may seem to lie beyond the end of another; the counts know better.
  clock->missed_before = std::min(clock->missed_before, match.before);
  clock->missed_after = std::min(clock->missed_after, match.after);
  return true;
}

}  // namespace

Alignment AlignClocks(std::span<const ClockMember> members, int64_t max_difference_ns) {
  Alignment alignment;
  alignment.clocks.resize(members.size());
  const auto worth = [&](size_t i) { return std::pair(PointCount(members[i]), members[i].has_wall_clock); };
  for (size_t i = 1; i < members.size(); ++i) {
    if (worth(i) > worth(alignment.reference)) alignment.reference = i;
  }
  const ClockMember& reference = members[alignment.reference];
  alignment.clocks[alignment.reference].source = ClockSource::kReference;

  std::vector<size_t> aligned = {alignment.reference};  // grows; each is tried as a partner once
  for (size_t next = 0; next < aligned.size(); ++next) {
    const ClockMember& partner = members[aligned[next]];
    const SyncPoints points = Mapped(partner.points, alignment.clocks[aligned[next]].map);
    for (size_t i = 0; i < members.size(); ++i) {
      MemberClock& clock = alignment.clocks[i];
      if (clock.source != ClockSource::kNone || clock.is_stranger) continue;
      const bool clocks_compare = partner.has_wall_clock && members[i].has_wall_clock;
      if (!AlignWith(points, clocks_compare, members[i], max_difference_ns, &clock)) continue;
      aligned.push_back(i);
    }
  }
  for (size_t i = 0; i < members.size(); ++i) {
    MemberClock& clock = alignment.clocks[i];
    if (clock.source == ClockSource::kNone && members[i].has_wall_clock && reference.has_wall_clock)
      clock.source = ClockSource::kWallClock;
  }
  return alignment;
}

}  // namespace opscope
