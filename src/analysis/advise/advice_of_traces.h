// Advice about ranks that come in a trace each, as if their traces were merged: causes add up trace by trace, and what
// compares ranks keeps some numbers per rank and step.
//
//   AdviceOfTraces all(AdviceOfTraces::Traces::kSeveral);
//   for (const Trace& trace : traces) all.Add(trace, nullptr, translate);
//   const Advice advice = std::move(all).Conclude();
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/advise/causes.h"
#include "analysis/advise/rank_comparison.h"
#include "analysis/advise/thread_comparison.h"
#include "opscope/analysis/advise.h"
#include "opscope/analysis/quality.h"
#include "opscope/trace.h"

namespace opscope::advise {

class AdviceOfTraces {
 public:
  // kOne: Add is called once, so a trace of one rank has nothing to be compared with.
  enum class Traces { kOne, kSeveral };
  explicit AdviceOfTraces(Traces traces) : traces_(traces) {}

  // Adds a trace, which is not needed afterwards. selected: as AdviceOptions. translate: gives evidence of this trace the
  // ids of the trace that the advice refers to. O(n log n) in device work and in spans that findings name, O(spans)
  // otherwise.
  void Add(const Trace& trace, const std::vector<uint8_t>* selected, const Translate& translate);

  // The advice about all traces; about those with selected steps, else those with steps, if there are any. Confidences do not consider the quality of the
  // data.
  [[nodiscard]] Advice Conclude() &&;

 private:
  struct Parts {
    size_t steps = 0;
    int64_t length_ns = 0;  // of all steps
    std::vector<Cause> causes;
    RankComparison ranks;
    ThreadComparison threads;
    std::optional<Finding> growth;
  };

  enum StepsOf : uint8_t { kNoSteps, kSteps, kSelectedSteps };

  const Traces traces_;
  Parts parts_[3];  // by StepsOf
  bool has_torch_operators_ = false;
};

// The confidence that data of this verdict allows at most.
void LimitConfidence(Verdict verdict, Advice* advice);

}  // namespace opscope::advise
