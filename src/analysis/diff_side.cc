// The numbers of one side come from the operator summary, which counts the key of `--by` and divides self times by
// steps in one walk over the spans. The summary has a row for hosts and one for devices of each name; here they are one
// row, and so are the rows of all runs.
//
// A dense matrix of rows and steps would be simpler, but a hostile trace has millions of names and of steps. So only
// the pairs with time are kept, sorted by row, and zeros are counted (SampleMoments).
// SPDX-License-Identifier: Apache-2.0
#include "analysis/diff_side.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/device_work.h"
#include "analysis/name_predicate.h"
#include "analysis/op_summary_steps.h"
#include "analysis/step_names.h"
#include "analysis/steps_of_ranks.h"
#include "base/saturating.h"

namespace opscope {
namespace {

std::vector<GroupKey> GroupKeysOf(DiffKey by) {
  switch (by) {
    case DiffKey::kName:
    case DiffKey::kKernel:
      break;
    case DiffKey::kShape:
      return {GroupKey::kName, GroupKey::kShape};
    case DiffKey::kModule:
      return {GroupKey::kName, GroupKey::kModule};
    case DiffKey::kStep:
      return {GroupKey::kName, GroupKey::kStep};
  }
  return {GroupKey::kName};
}

void KeepWorksOnly(const Trace& trace, std::vector<uint8_t>* selected) {
  WorkFinder works(trace);
  std::vector<uint8_t> kept(selected->size(), 0);
  for (uint32_t track = 0; track < trace.tracks().size(); ++track)
    works.ForEach(track, selected, [&](uint32_t span, WorkClass) { kept[span] = 1; });
  *selected = std::move(kept);
}

bool NamesNumberedStep(std::string_view name) {
  return CommonStepName(name).has_value();
}

// The ranges of steps, those on devices too, whose names would differ from run to run.
void LeaveOutSteps(const Trace& trace, std::vector<uint8_t>* selected) {
  const SpanColumns& spans = trace.spans();
  for (const SpanId span : trace.steps().span)
    if (span != SpanId::kNone) (*selected)[Row(span)] = 0;
  NamePredicate is_step(trace, &NamesNumberedStep);
  for (size_t span = 0; span < spans.size(); ++span)
    if (is_step(spans.name[span])) (*selected)[span] = 0;
}

std::vector<uint8_t> ComparedSpans(const Trace& trace, const DiffOptions& options) {
  std::vector<uint8_t> selected = options.filter != nullptr ? options.filter->Select(trace, options.max_threads)
                                                            : std::vector<uint8_t>(trace.spans().size(), 1);
  LeaveOutSteps(trace, &selected);
  if (options.by == DiffKey::kKernel) KeepWorksOnly(trace, &selected);
  return selected;
}

void AddSums(const OpSummaryRow& row, DiffSums* sums) {
  sums->count += row.count;
  sums->total_ns = SaturatingAdd(sums->total_ns, row.total_with_recursion_ns);
  sums->self_ns = SaturatingAdd(sums->self_ns, row.self_ns);
  sums->memory_bytes = SaturatingAdd(sums->memory_bytes, row.self_memory_bytes);
}

}  // namespace

uint32_t DiffKeys::RowOf(std::string_view name, std::string_view key) {
  const size_t row = rows_.NumberOf({name, key});
  if (row == keys_.size()) keys_.push_back({std::string(name), std::string(key)});
  return static_cast<uint32_t>(row);
}

uint32_t DiffSide::TakeSample() {
  if (samples_are_runs_ && run_sample_ != kNoSample) return run_sample_;
  run_sample_ = static_cast<uint32_t>(samples_.size());
  samples_.emplace_back();
  return run_sample_;
}

// Gives the sample of each row of `steps`; kNoSample if the step does not count.
std::vector<uint32_t> DiffSide::AddSteps(const Trace& trace, const DiffOptions& options) {
  const StepColumns& steps = trace.steps();
  const std::vector<uint8_t> selected =
      options.filter != nullptr ? options.filter->SelectSteps(trace) : std::vector<uint8_t>(steps.size(), 1);
  std::vector<uint32_t> samples(steps.size(), kNoSample);
  for (size_t step = 0; step < steps.size(); ++step) {
    if (steps.span[step] == SpanId::kNone || selected[step] == 0) continue;
    samples[step] = TakeSample();
    Sample& sample = samples_[samples[step]];
    sample.sum_ns = SaturatingAdd(sample.sum_ns, trace.spans().duration[Row(steps.span[step])].ns);
    ++sample.steps;
  }
  return samples;
}

void DiffSide::Add(const Trace& trace, const DiffOptions& options, DiffKeys* keys) {
  const std::vector<uint32_t> samples = AddSteps(trace, options);
  const std::vector<uint8_t> selected = ComparedSpans(trace, options);
  const StepsOfRanks steps(trace);
  const OpSummaryOfSteps ops = SummarizeOpsBySteps(
      trace, steps, {.group_by = GroupKeysOf(options.by), .selected = &selected, .max_threads = options.max_threads});
  std::vector<uint32_t> rows;
  rows.reserve(ops.summary.rows.size());
  for (const OpSummaryRow& row : ops.summary.rows) {
    rows.push_back(keys->RowOf(trace.text(row.name), row.keys.empty() ? std::string_view() : row.keys[0]));
    if (rows.back() >= sums_.size()) sums_.resize(rows.back() + 1);
    AddSums(row, &sums_[rows.back()]);
  }
  for (const StepSelf& part : ops.step_self) {
    if (samples[part.step] != kNoSample) parts_.push_back({rows[part.group], samples[part.step], part.self_ns});
  }
  AddMemory(trace);
}

void DiffSide::AddMemory(const Trace& trace) {
  if (!HasMemoryEvents(trace)) return;
  for (const DeviceMemoryRow& device : MeasureMemoryUsage(trace).devices) {
    const auto [found, is_new] = memory_peaks_.try_emplace(device.place, device.peak_bytes);
    found->second = std::max(found->second, device.peak_bytes);
  }
}

void DiffSide::Finish() {
  std::sort(parts_.begin(), parts_.end(),
            [](const Part& a, const Part& b) { return std::tie(a.row, a.sample) < std::tie(b.row, b.sample); });
}

SampleMoments DiffSide::SelfTimes(size_t row) {
  values_.clear();
  while (next_part_ < parts_.size() && parts_[next_part_].row < row)
    ++next_part_;
  while (next_part_ < parts_.size() && parts_[next_part_].row == row) {
    const uint32_t sample = parts_[next_part_].sample;
    int64_t self_ns = 0;
    for (; next_part_ < parts_.size() && parts_[next_part_].row == row && parts_[next_part_].sample == sample;
         ++next_part_) {
      self_ns = SaturatingAdd(self_ns, parts_[next_part_].self_ns);
    }
    values_.push_back(static_cast<double>(self_ns) / static_cast<double>(samples_[sample].steps));
  }
  return {sample_count(), values_};
}

SampleMoments DiffSide::StepDurations() const {
  std::vector<double> means_ns;
  means_ns.reserve(samples_.size());
  for (const Sample& sample : samples_)
    means_ns.push_back(static_cast<double>(sample.sum_ns) / static_cast<double>(sample.steps));
  return {means_ns.size(), means_ns};
}

}  // namespace opscope
