// Causes that show when ranks are compared, step by step: collectives that no rank hides, and a rank that computes longer
// than the others. Ranks may come in one trace or in a trace each.
//
//   RankComparison ranks;
//   for (const Job& job : jobs) ranks.Add(job, true, translate);
//   const Cause imbalance = ranks.RankImbalance();
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/advise/causes.h"
#include "opscope/analysis/advise.h"

namespace opscope::advise {

class RankComparison {
 public:
  // Adds the ranks of a trace. are_there_others: more than one rank is to be compared, of this trace or of others; false
  // saves the measuring of steps. O(spans + n log n) in works
  void Add(const Job& job, bool are_there_others, const Translate& translate);

  [[nodiscard]] Cause ExposedCommunication() const;
  [[nodiscard]] Cause RankImbalance() const;

 private:
  // What a rank took in a step, in nanoseconds.
  struct RankTime {
    Evidence step;
    int64_t time_ns = 0;
    int64_t host_ns = 0;
  };
  // By the number of the step: steps of several ranks are one step if their numbers are equal.
  using TimesByStep = std::map<int64_t, std::vector<RankTime>>;

  static Cause CauseOfLongest(const TimesByStep& by_step);

  TimesByStep exposed_;    // time_ns: communication without computation
  TimesByStep computing_;  // time_ns: computation and copies of devices
  size_t ranks_ = 0;
  bool has_works_ = false;
};

}  // namespace opscope::advise
