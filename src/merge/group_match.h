// The common part of matching the sync points of a group by number (number_match.h) and by order (shift_match.h): the
// candidates, each of which aligns one rank's list with the other's, the choice among them, and whether the chosen one
// fits in time.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "merge/clock_fit.h"
#include "merge/sync_points.h"

namespace opscope {

enum class MatchOutcome : uint8_t {
  kMatched,
  kNothingShared,  // no group has sync points on both sides, or no number is on both
  kOtherTime,      // the clocks say that the two were not recorded together
  kContradicts,    // the kinds of operations do not agree
  kDoesNotFit,     // the kinds agree, the gaps between them do not
};

constexpr double kMaxOtherLabels = 0.05;  // accepted share of different labels: a recording may lack some collectives
constexpr int64_t kMaxCompared = 512;     // points compared per candidate, from the middle of the overlap

// What is known about two wall clocks before any times are compared.
struct ClockBelief {
  std::optional<int64_t> max_difference_ns;  // the largest accepted difference; nullopt: the clocks are not comparable
  int64_t error_ns = 1'000'000;              // a usual difference, here of machines that a server sets over a network
};

struct Candidate {
  int64_t shift = 0;
  int64_t overlap = 0;        // points that both lists have
  int64_t jitter_ns = 0;      // median change of the clocks' difference from one point to the next
  int64_t spread_ns = 0;      // median distance of the difference from a line, at least the jitter
  int64_t difference_ns = 0;  // reference minus own clock in the middle of the overlap
  bool begins_apart = false;  // one of the lists has points before the first common one
  bool ends_apart = false;    // and after the last
};

struct GroupMatch {
  MatchOutcome outcome = MatchOutcome::kNothingShared;
  std::vector<ClockPair> pairs;  // kMatched: by time
  // Number of reference points before the first and after the last point of `own`.
  uint64_t before = 0;
  uint64_t after = 0;
};

[[nodiscard]] int64_t DistanceBetween(int64_t a, int64_t b);

// 0 for an empty list. Reorders the values.
[[nodiscard]] int64_t MedianOf(std::vector<int64_t>* values);

// Sets jitter and difference, from the common points in the middle, by time. The spread gets the jitter, its lower
// limit. O(n), with n <= kMaxCompared.
void MeasureJitter(std::span<const ClockPair> pairs, Candidate* candidate);

// Sets the spread, from the middle of all common points; takes several times as long. REQUIRES: MeasureJitter.
void MeasureSpread(std::span<const ClockPair> pairs, Candidate* candidate);

using PairsOfCandidate = std::function<std::vector<ClockPair>(const Candidate&)>;  // all common points, by time

// The most likely candidate. Measures only the spreads that may decide. REQUIRES: candidates is not empty.
[[nodiscard]] Candidate ChooseCandidate(std::span<const Candidate> candidates, const ClockBelief& belief,
                                        const PairsOfCandidate& pairs_of);

// The chosen candidate if it fits in time; otherwise `outcome` gets the reason. `is_numbered`: the candidates pair
// equal numbers of the program, so gaps that neither agree nor contradict are enough.
[[nodiscard]] std::optional<Candidate> FindFitting(std::span<const Candidate> candidates,
                                                   const std::vector<SyncPoint>& reference, const ClockBelief& belief,
                                                   bool is_numbered, const PairsOfCandidate& pairs_of,
                                                   MatchOutcome* outcome);

}  // namespace opscope
