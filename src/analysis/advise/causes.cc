// The rule that makes a finding of a cause: at least 5 % of the mean step, in at least half of the steps. Evidence is
// bounded while it is collected, since a trace may have a million gaps: beyond a few thousand the longest are kept.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/advise/causes.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/saturating.h"

namespace opscope::advise {
namespace {

constexpr size_t kMaxCollected = 4096;

int64_t LengthOf(const Evidence& evidence) {
  return SaturatingSubtract(evidence.end_ns, evidence.start_ns);
}

}  // namespace

void Cause::AddSaving(size_t step, int64_t ns) {
  savings_[step] = SaturatingAdd(savings_[step], ns);
  total_ns_ = SaturatingAdd(total_ns_, ns);
}

void Cause::AddSavings(const RankActivity& rank, const IntervalSet& set) {
  for (size_t step = 0; step < rank.steps.size(); ++step)
    AddSaving(rank.first_step + step, set.LengthIn(rank.steps[step].time.begin, rank.steps[step].time.end));
}

void Cause::AddEvidence(const Evidence& evidence) {
  ++finding_.count;
  finding_.evidence.push_back(evidence);
  if (finding_.evidence.size() >= kMaxCollected) KeepLongest();
}

void Cause::AddEvidence(const Trace& trace, int32_t rank, const NamedSpan& span) {
  AddEvidence({rank, trace.spans().track[span.span], trace.spans().name[span.span], span.time.begin, span.time.end});
}

void Cause::Append(Cause other, const Translate& translate) {
  savings_.insert(savings_.end(), other.savings_.begin(), other.savings_.end());
  total_ns_ = SaturatingAdd(total_ns_, other.total_ns_);
  if (other.considered_) considered_ = considered_.value_or(0) + *other.considered_;
  needs_one_step_ = other.needs_one_step_;
  finding_.count += other.finding_.count;
  other.KeepLongest();
  for (const Evidence& evidence : other.finding_.evidence)
    finding_.evidence.push_back(translate(evidence));
  if (finding_.evidence.size() >= kMaxCollected) KeepLongest();
}

void Cause::KeepLongest() {
  std::vector<Evidence>& evidence = finding_.evidence;
  if (evidence.size() <= Finding::kMaxEvidence) return;
  const auto order = [](const Evidence& a, const Evidence& b) {
    return std::tuple(-LengthOf(a), a.start_ns, a.rank, a.track) <
           std::tuple(-LengthOf(b), b.start_ns, b.rank, b.track);
  };
  const auto end = evidence.begin() + static_cast<std::ptrdiff_t>(Finding::kMaxEvidence);
  std::nth_element(evidence.begin(), end, evidence.end(), order);
  evidence.erase(end, evidence.end());
}

std::optional<Finding> Cause::Conclude(int64_t step_mean_ns) {
  const size_t considered = considered_.value_or(savings_.size());
  const auto affected =
      static_cast<size_t>(std::count_if(savings_.begin(), savings_.end(), [](int64_t saving) { return saving > 0; }));
  const bool is_frequent = needs_one_step_ || 2 * affected >= considered;
  if (considered == 0 || affected == 0 || !is_frequent) return std::nullopt;
  finding_.saving_ns = total_ns_ / static_cast<int64_t>(considered);
  if (finding_.saving_ns < step_mean_ns / 20 + (step_mean_ns % 20 != 0 ? 1 : 0)) return std::nullopt;
  KeepLongest();
  std::sort(finding_.evidence.begin(), finding_.evidence.end(), [](const Evidence& a, const Evidence& b) {
    return std::tuple(a.start_ns, a.end_ns, a.rank, a.track) < std::tuple(b.start_ns, b.end_ns, b.rank, b.track);
  });
  return std::move(finding_);
}

int64_t ExcessOverMean(std::span<const int64_t> times, int64_t time) {
  int64_t sum = 0;
  for (const int64_t each : times)
    sum = SaturatingAdd(sum, each);
  const auto count = static_cast<int64_t>(times.size());
  return time - sum / count - (sum % count != 0 ? 1 : 0);
}

}  // namespace opscope::advise
