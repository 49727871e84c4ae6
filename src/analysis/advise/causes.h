// A cause of lost time: what it costs in each step, and what shows it. A cause becomes a finding if it costs enough in
// enough steps.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analysis/advise/rank_activity.h"
#include "opscope/analysis/advise.h"

namespace opscope::advise {

// The ranks of a trace.
struct Job {
  const Trace& trace;
  const std::vector<uint8_t>* selected;
  std::vector<RankActivity> ranks;
  size_t steps = 0;  // of all ranks

  bool has_real_steps() const { return !ranks.empty() && ranks[0].steps[0].track != TrackId::kNone; }
};

// Gives evidence the ids of tracks and texts that another trace has for them.
using Translate = std::function<Evidence(const Evidence& evidence)>;

class Cause {
 public:
  // steps: number of steps of all ranks.
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

  // How many of the steps are considered: the saving is the mean over them, and half of them must have it. Default: all.
  void ConsiderSteps(size_t steps) { considered_ = steps; }
  // One step that has it is enough.
  void NeedOneStep() { needs_one_step_ = true; }

  // Adds the same cause in another trace, as if its ranks were the next ones of this trace.
  void Append(Cause other, const Translate& translate);

  FindingKind kind() const { return finding_.kind; }
  Confidence confidence() const { return finding_.confidence; }
  // nullopt: it costs too little, or in too few steps.
  std::optional<Finding> Conclude(int64_t step_mean_ns);

 private:
  void KeepLongest();

  Finding finding_;
  std::vector<int64_t> savings_;  // by step
  int64_t total_ns_ = 0;
  std::optional<size_t> considered_;
  bool needs_one_step_ = false;
};

// How much longer `time` is than the mean of `times`, rounded down.
[[nodiscard]] int64_t ExcessOverMean(std::span<const int64_t> times, int64_t time);

// The cause of each kind; a kind that the job does not have costs 0.
std::vector<Cause> FindDeviceCauses(const Job& job);  // sync_points, launch_bound, host_device_copies
std::vector<Cause> FindHostCauses(const Job& job);    // input_starvation, recompiles, device_allocations
Cause FindSmallOps(const Job& job);
// For ranks without device work: scalar_reads, tensor_copies, unfused_optimizer, cpu_oversubscription.
std::vector<Cause> FindOperatorCauses(const Job& job);
Cause FindSlowFirstStep(const Job& job);
// Costs bytes, not time, so Cause's rule does not apply. nullopt: no device's memory grows.
std::optional<Finding> FindMemoryGrowth(const Job& job);

}  // namespace opscope::advise
