// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/advise.h"

#include <iterator>
#include <utility>

#include "analysis/advise/advice_of_traces.h"
#include "opscope/analysis/quality.h"

namespace opscope {
namespace {

constexpr std::string_view kFindingNames[] = {
    "sync_points",        "launch_bound",          "input_starvation",     "small_ops",
    "host_device_copies", "exposed_communication", "recompiles",           "device_allocations",
    "memory_growth",      "rank_imbalance",        "thread_imbalance",     "scalar_reads",
    "tensor_copies",      "unfused_optimizer",     "cpu_oversubscription", "slow_first_step"};
static_assert(std::size(kFindingNames) == kFindingKinds);

}  // namespace

std::string_view FindingKindName(FindingKind kind) {
  return kFindingNames[static_cast<size_t>(kind)];
}

Advice Advise(const Trace& trace, const AdviceOptions& options) {
  advise::AdviceOfTraces all(advise::AdviceOfTraces::Traces::kOne);
  all.Add(trace, options.selected, [](const Evidence& evidence) { return evidence; });
  Advice advice = std::move(all).Conclude();
  if (!advice.findings.empty()) advise::LimitConfidence(JudgeQuality(trace).verdict, &advice);
  return advice;
}

}  // namespace opscope
