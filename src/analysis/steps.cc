// Finds the steps of each rank and has StepParts divide them.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/steps.h"

#include <algorithm>
#include <tuple>

#include "analysis/duration_quantiles.h"
#include "analysis/step_parts.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/track_spans.h"
#include "base/saturating.h"

namespace opscope {
namespace {

class StepMeasurement {
 public:
  StepMeasurement(const Trace& trace, const std::vector<uint8_t>* selected) : trace_(trace), selected_(selected) {}

  StepReport Measure() {
    FindSteps();
    std::vector<TrackId> tracks;
    tracks.reserve(steps_.size());
    for (const Step& step : steps_)
      tracks.push_back(step.track);
    const StepParts parts(trace_, selected_, tracks);
    for (Step& step : steps_)
      parts.Divide(step.track, &step.row);
    StepReport report;
    for (const Step& each : steps_)
      if (IsShown(each)) report.rows.push_back(each.row);
    report.durations = MeasureStepDurations(report.rows);
    return report;
  }

 private:
  struct Step {
    StepTimes row;
    uint32_t span;
    TrackId track;
  };

  // A step without selected spans is left out.
  bool IsShown(const Step& step) const {
    return IsSelected(selected_, step.span) || step.row.idle_ns < step.row.duration_ns;
  }

  void FindSteps() {
    const StepColumns& steps = trace_.steps();
    const SpanColumns& spans = trace_.spans();
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps.span[i] == SpanId::kNone) continue;
      const uint32_t span = Row(steps.span[i]);
      const TrackId track = spans.track[span];
      steps_.push_back({{.rank = RankOfTrack(trace_, track),
                         .number = steps.number[i],
                         .name = steps.name[i],
                         .start_ns = spans.start[span].ns,
                         .duration_ns = spans.duration[span].ns},
                        span,
                        track});
    }
    const auto order = [](const Step& step) { return std::tuple(step.row.rank, step.row.start_ns, step.row.number); };
    std::stable_sort(steps_.begin(), steps_.end(), [&](const Step& a, const Step& b) { return order(a) < order(b); });
  }

  const Trace& trace_;
  const std::vector<uint8_t>* selected_;
  std::vector<Step> steps_;  // in the order of the result
};

}  // namespace

StepReport MeasureSteps(const Trace& trace, const std::vector<uint8_t>* selected) {
  return StepMeasurement(trace, selected).Measure();
}

StepDurations MeasureStepDurations(const std::vector<StepTimes>& rows) {
  StepDurations result;
  result.count = rows.size();
  if (rows.empty()) return result;
  std::vector<int64_t> durations;
  int64_t sum = 0;
  for (const StepTimes& row : rows) {
    durations.push_back(row.duration_ns);
    sum = SaturatingAdd(sum, row.duration_ns);
  }
  const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
  result.min_ns = *least;
  result.max_ns = *most;
  result.mean_ns = std::max(*least, sum / static_cast<int64_t>(rows.size()));  // the sum saturates
  const DurationQuantiles quantiles = QuantilesOf(durations);
  result.p50_ns = quantiles.p50_ns;
  result.p99_ns = quantiles.p99_ns;
  result.stddev_ns = quantiles.stddev_ns;
  return result;
}

}  // namespace opscope
