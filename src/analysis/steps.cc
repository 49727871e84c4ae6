// Divides steps into parts by set algebra, once per rank instead of once per step. The sets grow with the priority of
// the parts, so that a part is what its set adds to the set before:
//
//   compute < kernels < works < works and calls < works and host spans
//
// Within a step a part is the difference of two lengths, each two binary searches. Input spans count on the step's own
// track alone; their set is therefore kept per track, without what a part of higher priority has.
//
// A sweep over the spans of each step would be simpler, but costs O(spans) per step where steps overlap.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/steps.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/device_work.h"
#include "analysis/duration_quantiles.h"
#include "analysis/host_spans.h"
#include "analysis/intervals.h"
#include "analysis/steps_of_ranks.h"
#include "base/saturating.h"

namespace opscope {
namespace {

using Intervals = std::vector<Interval>;

// The spans of one rank as they are collected.
struct RankSpans {
  Intervals compute, communication, copies;
  Intervals host_communication;  // of the host
  Intervals calls, host_spans;
  std::map<TrackId, Intervals> inputs;  // of the tracks that have steps
};

// The sets of one rank.
struct RankSets {
  IntervalSet compute, kernels, works, works_and_calls, works_and_host;
  struct Inputs {
    IntervalSet beside_works;            // input spans without works
    IntervalSet beside_works_and_calls;  // and without calls
  };
  std::map<TrackId, Inputs> inputs;

  explicit RankSets(RankSpans spans) {
    const bool has_works = !spans.compute.empty() || !spans.communication.empty() || !spans.copies.empty();
    compute = IntervalSet(std::move(spans.compute));
    kernels = Union(compute, IntervalSet(std::move(has_works ? spans.communication : spans.host_communication)));
    works = Union(kernels, IntervalSet(std::move(spans.copies)));
    works_and_calls = Union(works, IntervalSet(std::move(spans.calls)));
    works_and_host = Union(works, IntervalSet(std::move(spans.host_spans)));
    for (auto& [track, intervals] : spans.inputs) {
      const IntervalSet input(std::move(intervals));
      inputs[track] = {input.Minus(works), input.Minus(works_and_calls)};
    }
  }

  void Divide(TrackId track, StepTimes* row) const {
    const int64_t begin = row->start_ns, end = SaturatingAdd(begin, row->duration_ns);
    const auto length = [&](const IntervalSet& set) { return set.LengthIn(begin, end); };
    const auto input = inputs.find(track);
    const int64_t beside_works = input == inputs.end() ? 0 : length(input->second.beside_works);
    const int64_t beside_calls = input == inputs.end() ? 0 : length(input->second.beside_works_and_calls);
    row->compute_ns = length(compute);
    row->communication_ns = length(kernels) - row->compute_ns;
    row->copy_ns = length(works) - length(kernels);
    row->input_ns = beside_works;
    // Works, input and calls, less works and input.
    row->host_ns = length(works_and_calls) + beside_calls - length(works) - beside_works;
    row->other_ns = length(works_and_host) - length(works_and_calls) - beside_calls;
    row->idle_ns = SaturatingSubtract(end, begin) - length(works_and_host);
  }
};

class StepMeasurement {
 public:
  StepMeasurement(const Trace& trace, const std::vector<uint8_t>* selected)
      : trace_(trace), selected_(selected), works_(trace), host_(trace) {}

  StepReport Measure() {
    FindSteps();
    if (!steps_.empty()) CollectSpans();
    StepReport report;
    auto step = steps_.begin();
    for (auto& [rank, spans] : ranks_) {
      const RankSets sets(std::move(spans));
      for (; step != steps_.end() && step->row.rank == rank; ++step)
        sets.Divide(step->track, &step->row);
    }
    for (const Step& each : steps_)
      if (IsShown(each)) report.rows.push_back(each.row);
    report.durations = Summarize(report.rows);
    return report;
  }

 private:
  struct Step {
    StepTimes row;
    uint32_t span;
    TrackId track;
  };

  bool IsSelected(uint32_t span) const { return selected_ == nullptr || (*selected_)[span] != 0; }

  // A step without selected spans says nothing.
  bool IsShown(const Step& step) const { return IsSelected(step.span) || step.row.idle_ns < step.row.duration_ns; }

  Interval IntervalOf(uint32_t span) const {
    const int64_t begin = trace_.spans().start[span].ns;
    return {begin, SaturatingAdd(begin, trace_.spans().duration[span].ns)};
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
    for (const Step& step : steps_)
      ranks_[step.row.rank].inputs[step.track];
  }

  void CollectSpans() {
    const TrackColumns& tracks = trace_.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      const auto rank = ranks_.find(RankOfTrack(trace_, TrackId{track}));
      if (rank == ranks_.end()) continue;
      if (tracks.kind[track] == TrackKind::kDeviceStream) CollectWorks(track, &rank->second);
      if (tracks.kind[track] == TrackKind::kThread) CollectHostSpans(TrackId{track}, &rank->second);
    }
  }

  void CollectWorks(uint32_t track, RankSpans* rank) {
    const TrackColumns& tracks = trace_.tracks();
    const uint32_t first = tracks.first_span[track];
    for (uint32_t span = first; span < first + tracks.span_count[track]; ++span) {
      if (!IsSelected(span)) continue;
      const std::optional<WorkClass> work = works_.ClassOf(span);
      if (!work) continue;
      Intervals& of_class = *work == WorkClass::kCompute         ? rank->compute
                            : *work == WorkClass::kCommunication ? rank->communication
                                                                 : rank->copies;
      AppendOrExtend(IntervalOf(span), &of_class);
    }
  }

  void CollectHostSpans(TrackId track, RankSpans* rank) {
    const auto inputs = rank->inputs.find(track);
    host_.ForEach(Row(track), [&](uint32_t span) {
      if (!IsSelected(span)) return;
      const Interval interval = IntervalOf(span);
      AppendOrExtend(interval, &rank->host_spans);
      if (host_.IsCall(span)) AppendOrExtend(interval, &rank->calls);
      if (host_.IsCommunication(span)) AppendOrExtend(interval, &rank->host_communication);
      if (inputs != rank->inputs.end() && host_.IsInput(span)) AppendOrExtend(interval, &inputs->second);
    });
  }

  static StepDurations Summarize(const std::vector<StepTimes>& rows) {
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
    result.mean_ns = std::max(*least, sum / static_cast<int64_t>(rows.size()));  // the sum may have stopped
    const DurationQuantiles quantiles = QuantilesOf(durations);
    result.p50_ns = quantiles.p50_ns;
    result.p99_ns = quantiles.p99_ns;
    result.stddev_ns = quantiles.stddev_ns;
    return result;
  }

  const Trace& trace_;
  const std::vector<uint8_t>* selected_;
  WorkFinder works_;
  HostSpans host_;
  std::vector<Step> steps_;  // in the order of the result
  std::map<int32_t, RankSpans> ranks_;
};

}  // namespace

StepReport MeasureSteps(const Trace& trace, const std::vector<uint8_t>* selected) {
  return StepMeasurement(trace, selected).Measure();
}

}  // namespace opscope
