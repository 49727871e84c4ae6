// A cause of lost time: what it costs in each step, and what shows it. A cause becomes a finding if it costs enough in
// enough steps.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/advise/rank_activity.h"
#include "opscope/analysis/advise.h"

namespace opscope::advise {

struct Job {
  const Trace& trace;
  const std::vector<uint8_t>* selected;
  std::vector<RankActivity> ranks;
  size_t steps = 0;  // of all ranks

  bool has_real_steps() const { return !ranks.empty() && ranks[0].steps[0].track != TrackId::kNone; }
};

class Cause {
 public:
  // steps: number of steps that are considered.
  Cause(FindingKind kind, Confidence confidence, size_t steps) : savings_(steps) {
    finding_.kind = kind;
    finding_.confidence = confidence;
  }

  // The cause costs `ns` in a step, which is numbered among those of all ranks. REQUIRES: step < steps.
  void AddSaving(size_t step, int64_t ns);
  // The length of the set within each step of the rank.
  void AddSavings(const RankActivity& rank, const IntervalSet& set);
  // One of the spans, gaps or runs that the cause consists of.
  void AddEvidence(const Evidence& evidence);
  void AddEvidence(const Trace& trace, int32_t rank, const NamedSpan& span);

  // The mean over which number of steps; default: those that are considered.
  void DivideBy(size_t steps) { divisor_ = steps; }
  // In how many steps it must cost something; default: half of those that are considered.
  void NeedSteps(size_t steps) { needed_ = steps; }

  // nullopt: it costs too little, or in too few steps.
  std::optional<Finding> Conclude(int64_t step_mean_ns);

 private:
  void KeepLongest();

  Finding finding_;
  std::vector<int64_t> savings_;  // by step
  int64_t total_ns_ = 0;
  std::optional<size_t> divisor_, needed_;
};

// The cause of each kind; a kind that the job does not have costs 0.
std::vector<Cause> FindDeviceCauses(const Job& job);  // sync_points, launch_bound, host_device_copies
std::vector<Cause> FindHostCauses(const Job& job);    // input_starvation, recompiles, device_allocations
Cause FindSmallOps(const Job& job);
Cause FindExposedCommunication(const Job& job);
Cause FindRankImbalance(const Job& job);
Cause FindThreadImbalance(const Job& job);
// For ranks without device work: scalar_reads, tensor_copies, unfused_optimizer, cpu_oversubscription.
std::vector<Cause> FindOperatorCauses(const Job& job);
Cause FindSlowFirstStep(const Job& job);
// Costs bytes, not time, so Cause's rule does not apply. nullopt: no device's memory grows.
std::optional<Finding> FindMemoryGrowth(const Job& job);

}  // namespace opscope::advise
