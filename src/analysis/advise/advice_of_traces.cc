// Collects what each rank of a trace did once, lets each kind of cause say what it costs, and adds that to the causes of
// the traces before. At the end a cause that costs enough becomes a finding.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/advise/advice_of_traces.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/saturating.h"

namespace opscope::advise {
namespace {

bool HasTorchOperators(const Trace& trace) {
  const auto& names = trace.spans().name;
  std::vector<uint8_t> is_seen(trace.string_count());
  return std::any_of(names.begin(), names.end(), [&](StringId name) {
    if (name == StringId::kNone || std::exchange(is_seen[Row(name)], 1) != 0) return false;
    return trace.text(name).starts_with("aten::");
  });
}

// The causes that single ranks have, in an order that does not depend on the trace.
std::vector<Cause> FindCauses(const Job& job) {
  std::vector<Cause> causes = FindDeviceCauses(job);
  const auto add = [&](std::vector<Cause> more) { std::move(more.begin(), more.end(), std::back_inserter(causes)); };
  add(FindHostCauses(job));
  causes.push_back(FindSmallOps(job));
  add(FindOperatorCauses(job));
  causes.push_back(FindSlowFirstStep(job));
  return causes;
}

}  // namespace

void AdviceOfTraces::Add(const Trace& trace, const std::vector<uint8_t>* selected, const Translate& translate) {
  Job job{.trace = trace, .selected = selected, .ranks = CollectActivity(trace, selected), .steps = 0};
  if (job.ranks.empty()) return;
  has_torch_operators_ = has_torch_operators_ || HasTorchOperators(trace);
  Parts& parts = parts_[!job.has_real_steps() ? kNoSteps : HasSelectedStep(trace, selected) ? kSelectedSteps : kSteps];
  for (const RankActivity& rank : job.ranks) {
    job.steps += rank.steps.size();
    for (const RankStep& step : rank.steps)
      parts.length_ns = SaturatingAdd(parts.length_ns, SaturatingSubtract(step.time.end, step.time.begin));
  }
  std::vector<Cause> causes = FindCauses(job);
  for (size_t i = 0; i < causes.size(); ++i) {
    if (parts.causes.size() == i) parts.causes.emplace_back(causes[i].kind(), causes[i].confidence(), 0);
    parts.causes[i].Append(std::move(causes[i]), translate);
  }
  parts.ranks.Add(job, job.ranks.size() > 1 || traces_ == Traces::kSeveral, translate);
  parts.threads.Add(job, parts.steps, translate);
  if (std::optional<Finding> growth = FindMemoryGrowth(job)) {
    for (Evidence& evidence : growth->evidence)
      evidence = translate(evidence);
    if (!parts.growth || parts.growth->bytes_per_step < growth->bytes_per_step) parts.growth = std::move(growth);
  }
  parts.steps += job.steps;
}

Advice AdviceOfTraces::Conclude() && {
  const StepsOf best = parts_[kSelectedSteps].steps > 0 ? kSelectedSteps : parts_[kSteps].steps > 0 ? kSteps : kNoSteps;
  const bool has_steps = best != kNoSteps;
  Parts& parts = parts_[best];
  Advice advice{.steps = parts.steps,
                .step_mean_ns = parts.steps == 0 ? 0 : parts.length_ns / static_cast<int64_t>(parts.steps),
                .has_steps = has_steps,
                .has_torch_operators = has_torch_operators_,
                .findings = {}};
  std::vector<Cause> causes = std::move(parts.causes);
  causes.push_back(parts.ranks.ExposedCommunication());
  causes.push_back(parts.ranks.RankImbalance());
  causes.push_back(parts.threads.Imbalance(parts.steps));
  for (Cause& cause : causes)
    if (std::optional<Finding> finding = cause.Conclude(advice.step_mean_ns))
      advice.findings.push_back(std::move(*finding));
  if (parts.growth) advice.findings.push_back(std::move(*parts.growth));
  std::sort(advice.findings.begin(), advice.findings.end(), [](const Finding& a, const Finding& b) {
    return a.saving_ns != b.saving_ns ? a.saving_ns > b.saving_ns : a.kind < b.kind;
  });
  return advice;
}

void LimitConfidence(Verdict verdict, Advice* advice) {
  const Confidence most = verdict == Verdict::kGood     ? Confidence::kHigh
                          : verdict == Verdict::kUsable ? Confidence::kMedium
                                                        : Confidence::kLow;
  for (Finding& finding : advice->findings)
    finding.confidence = std::min(finding.confidence, most);
}

}  // namespace opscope::advise
