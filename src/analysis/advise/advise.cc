// Collects what each rank did once, lets each kind of cause say what it costs, and keeps those that cost enough. A
// doubtful trace makes every finding one of low confidence.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/advise.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/advise/causes.h"
#include "base/saturating.h"
#include "opscope/analysis/quality.h"

namespace opscope {
namespace {

constexpr std::string_view kFindingNames[] = {
    "sync_points",        "launch_bound",          "input_starvation",     "small_ops",
    "host_device_copies", "exposed_communication", "recompiles",           "device_allocations",
    "memory_growth",      "rank_imbalance",        "thread_imbalance",     "scalar_reads",
    "tensor_copies",      "unfused_optimizer",     "cpu_oversubscription", "slow_first_step"};
static_assert(std::size(kFindingNames) == kFindingKinds);

// The mean length, rounded down.
int64_t MeanLengthOf(const advise::Job& job) {
  int64_t sum = 0;
  for (const advise::RankActivity& rank : job.ranks)
    for (const advise::RankStep& step : rank.steps)
      sum = SaturatingAdd(sum, SaturatingSubtract(step.time.end, step.time.begin));
  return job.steps == 0 ? 0 : sum / static_cast<int64_t>(job.steps);
}

Confidence MostFor(Verdict verdict) {
  return verdict == Verdict::kGood     ? Confidence::kHigh
         : verdict == Verdict::kUsable ? Confidence::kMedium
                                       : Confidence::kLow;
}

}  // namespace

std::string_view FindingKindName(FindingKind kind) {
  return kFindingNames[static_cast<size_t>(kind)];
}

Advice Advise(const Trace& trace, const AdviceOptions& options) {
  advise::Job job{.trace = trace,
                  .selected = options.selected,
                  .ranks = advise::CollectActivity(trace, options.selected),
                  .steps = 0};
  for (const advise::RankActivity& rank : job.ranks)
    job.steps += rank.steps.size();
  Advice advice{.steps = job.steps, .step_mean_ns = MeanLengthOf(job), .findings = {}};

  std::vector<advise::Cause> causes = FindDeviceCauses(job);
  for (advise::Cause& cause : FindHostCauses(job))
    causes.push_back(std::move(cause));
  causes.push_back(FindSmallOps(job));
  causes.push_back(FindExposedCommunication(job));
  causes.push_back(FindRankImbalance(job));
  causes.push_back(FindThreadImbalance(job));
  for (advise::Cause& cause : FindOperatorCauses(job))
    causes.push_back(std::move(cause));
  causes.push_back(FindSlowFirstStep(job));

  for (advise::Cause& cause : causes)
    if (std::optional<Finding> finding = cause.Conclude(advice.step_mean_ns))
      advice.findings.push_back(std::move(*finding));
  if (std::optional<Finding> growth = FindMemoryGrowth(job)) advice.findings.push_back(std::move(*growth));
  if (!advice.findings.empty()) {
    const Confidence most = MostFor(JudgeQuality(trace).verdict);
    for (Finding& finding : advice.findings)
      finding.confidence = std::min(finding.confidence, most);
  }
  std::sort(advice.findings.begin(), advice.findings.end(), [](const Finding& a, const Finding& b) {
    return a.saving_ns != b.saving_ns ? a.saving_ns > b.saving_ns : a.kind < b.kind;
  });
  return advice;
}

}  // namespace opscope
