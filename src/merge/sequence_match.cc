// A group whose collectives have the program's own numbers is matched by these (number_match.h), because a regular
// program fits in time under many shifts. The others are matched by order (shift_match.h), unless numbers of another
// group already gave the difference of the clocks: then the caller finds their pairs by PairsNear.
// SPDX-License-Identifier: Apache-2.0
#include "merge/sequence_match.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "merge/number_match.h"
#include "merge/shift_match.h"

namespace opscope {
namespace {

using PointList = std::vector<SyncPoint>;

bool HasNumbers(const PointList& points) {
  return std::any_of(points.begin(), points.end(), [](const SyncPoint& point) { return point.number.has_value(); });
}

// nullopt: the numbers do not count.
std::optional<GroupMatch> MatchWithNumbers(const PointList& reference, const PointList& own,
                                           const ClockBelief& belief) {
  if (!HasNumbers(reference) || !HasNumbers(own)) return std::nullopt;
  if (std::optional<GroupMatch> match = MatchByNumber(reference, own, belief)) return match;
  GroupMatch match = MatchByShift(reference, own, belief, true);  // some points have no number, or share one
  if (match.outcome != MatchOutcome::kMatched) return std::nullopt;
  return match;
}

size_t RowNearest(const PointList& points, int64_t time_ns) {
  const auto after = std::lower_bound(points.begin(), points.end(), time_ns,
                                      [](const SyncPoint& point, int64_t time) { return point.time_ns < time; });
  const auto row = static_cast<size_t>(after - points.begin());
  if (row == points.size()) return row - 1;
  const bool is_before =
      row > 0 && DistanceBetween(points[row - 1].time_ns, time_ns) < DistanceBetween(points[row].time_ns, time_ns);
  return is_before ? row - 1 : row;
}

void CountBeyond(const PointList& reference, const PointList& own, const ClockMap& map, SequenceMatch* match) {
  match->before += RowNearest(reference, map.ToReference(own.front().time_ns));
  match->after += reference.size() - 1 - RowNearest(reference, map.ToReference(own.back().time_ns));
}

void AddGroup(GroupMatch group, SequenceMatch* match) {
  if (group.outcome != MatchOutcome::kMatched) {
    match->outcome = std::max(match->outcome, group.outcome);
    return;
  }
  match->pairs.insert(match->pairs.end(), group.pairs.begin(), group.pairs.end());
  match->before += group.before;
  match->after += group.after;
}

}  // namespace

SequenceMatch MatchSequences(const SyncPoints& reference, const SyncPoints& own, const ClockBelief& belief) {
  SequenceMatch match;
  std::vector<std::pair<const std::string*, std::pair<const PointList*, const PointList*>>> others;
  for (const auto& [group, points] : own) {
    const auto same = reference.find(group);
    if (same == reference.end() || points.empty() || same->second.empty()) continue;
    if (std::optional<GroupMatch> numbered = MatchWithNumbers(same->second, points, belief)) {
      match.numbered.insert(group);
      AddGroup(std::move(*numbered), &match);
    } else {
      others.emplace_back(&group, std::pair(&same->second, &points));
    }
  }
  std::optional<ClockMap> known;
  if (!match.pairs.empty()) known = FitClock(match.pairs).map;
  for (const auto& [group, lists] : others) {
    if (known) {
      CountBeyond(*lists.first, *lists.second, *known, &match);
      continue;
    }
    GroupMatch by_shift = MatchByShift(*lists.first, *lists.second, belief, false);
    // An unnamed group may mix the collectives of several groups in one sequence.
    if (group->empty() && by_shift.outcome == MatchOutcome::kContradicts) by_shift.outcome = MatchOutcome::kDoesNotFit;
    AddGroup(std::move(by_shift), &match);
  }
  if (!match.pairs.empty()) match.outcome = MatchOutcome::kMatched;
  return match;
}

std::vector<ClockPair> PairsNear(const SyncPoints& reference, const SyncPoints& own, const ClockMap& map,
                                 int64_t tolerance_ns, const std::set<std::string>& numbered) {
  using Key = std::pair<uint64_t, std::optional<int64_t>>;  // label and number
  std::vector<ClockPair> pairs;
  for (const auto& [group, points] : own) {
    const auto same = reference.find(group);
    if (same == reference.end()) continue;
    const bool is_numbered = numbered.contains(group);
    const auto key_of = [&](const SyncPoint& point) {
      return Key(point.label, is_numbered ? point.number : std::nullopt);
    };
    std::vector<std::pair<Key, int64_t>> candidates;  // with the time
    candidates.reserve(same->second.size());
    for (const SyncPoint& point : same->second)
      candidates.emplace_back(key_of(point), point.time_ns);
    std::sort(candidates.begin(), candidates.end());
    for (const SyncPoint& point : points) {
      const int64_t expected = map.ToReference(point.time_ns);
      const Key key = key_of(point);
      const auto distance = [expected](const auto& candidate) { return DistanceBetween(candidate->second, expected); };
      const auto after = std::lower_bound(candidates.begin(), candidates.end(), std::pair(key, expected));
      auto nearest = candidates.end();
      if (after != candidates.begin() && (after - 1)->first == key) nearest = after - 1;
      if (after != candidates.end() && after->first == key &&
          (nearest == candidates.end() || distance(after) < distance(nearest)))
        nearest = after;
      if (nearest != candidates.end() && distance(nearest) <= tolerance_ns)
        pairs.push_back({point.time_ns, nearest->second});
    }
  }
  return pairs;
}

}  // namespace opscope
