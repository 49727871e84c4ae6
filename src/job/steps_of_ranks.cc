// The steps of all ranks of a job with the time that chosen spans take in them, whose traces need not be in memory
// together. Steps of which all spans count stand in a table of the JOB.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "opscope/analysis/span_filter.h"
#include "opscope/analysis/steps.h"
#include "opscope/report/job_report.h"
#include "opscope/report/steps.h"
#include "trace/builder.h"

namespace opscope {
namespace {

class StepsOfAllRanks {
 public:
  explicit StepsOfAllRanks(std::optional<SpanFilter> filter) : filter_(std::move(filter)) {}

  void Add(const Trace& trace) {
    const SelectedSpans selected(filter_, trace);
    for (StepTimes& step : MeasureSteps(trace, selected.get()).rows) {
      if (step.name != StringId::kNone) step.name = names_.Intern(trace.text(step.name));
      report_.rows.push_back(step);
    }
  }

  VerbResult Finish() {
    // Unknown ranks are added last.
    std::stable_sort(report_.rows.begin(), report_.rows.end(),
                     [](const StepTimes& a, const StepTimes& b) { return a.rank < b.rank; });
    report_.durations = MeasureStepDurations(report_.rows);
    return StepsVerbResult(names_.Build(), report_);
  }

 private:
  const std::optional<SpanFilter> filter_;
  TraceBuilder names_;
  StepReport report_;
};

}  // namespace

RankByRank StepsByRank(std::optional<SpanFilter> filter) {
  const auto steps = std::make_shared<StepsOfAllRanks>(std::move(filter));
  RankByRank question;
  question.add = [steps](const Trace& trace, int32_t) { steps->Add(trace); };
  question.finish = [steps](Verdict) { return steps->Finish(); };
  question.needs_steps = true;
  return question;
}

}  // namespace opscope
