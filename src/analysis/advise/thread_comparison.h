// One thread that takes longer than others which share its work: threads are compared within a step by the outermost
// host spans of one name, such as `forward` on the threads of nn.DataParallel. The name with the largest cost counts.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/advise/causes.h"
#include "opscope/trace.h"

namespace opscope::advise {

class ThreadComparison {
 public:
  // Adds the ranks of a trace. first_step: number of its first step among those of all traces. O(n log n) in the outermost
  // spans that several threads have
  void Add(const Job& job, size_t first_step, const Translate& translate);

  // steps: of all traces.
  [[nodiscard]] Cause Imbalance(size_t steps) const;

 private:
  struct Excess {
    size_t step = 0;
    int64_t ns = 0;  // by which the longest thread exceeds the mean
    Evidence evidence;
  };
  struct OfName {
    int64_t total_ns = 0;
    std::vector<Excess> steps;
  };
  std::map<StringId, OfName> by_name_;
};

}  // namespace opscope::advise
