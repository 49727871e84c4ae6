// Divides stretches by set algebra, once per rank instead of once per stretch. The sets grow with the priority of the
// parts, so that a part is what its set adds to the set before:
//
//   compute < kernels < works < works and calls < works and host spans
//
// Within a stretch a part is the difference of two lengths, each two binary searches. Input spans count on one track
// alone; their set is therefore kept per track, without what a part of higher priority has.
//
// A sweep over the spans of each stretch would be simpler, but costs O(spans) per stretch where they overlap.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_parts.h"

#include <utility>

#include "analysis/device_work.h"
#include "analysis/host_spans.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/track_spans.h"
#include "base/saturating.h"

namespace opscope {
namespace {

using Intervals = std::vector<Interval>;

// The spans of one rank as they are collected.
struct RankSpans {
  Intervals compute, communication, copies;
  Intervals host_communication;  // of the host
  Intervals calls, host_spans;
  std::map<TrackId, Intervals> inputs;  // of the tracks that have stretches
};

class SpanCollector {
 public:
  SpanCollector(const Trace& trace, const std::vector<uint8_t>* selected)
      : trace_(trace), selected_(selected), works_(trace), host_(trace) {}

  void Collect(std::map<int32_t, RankSpans>* ranks) {
    const TrackColumns& tracks = trace_.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      const auto rank = ranks->find(RankOfTrack(trace_, TrackId{track}));
      if (rank == ranks->end()) continue;
      CollectWorks(track, &rank->second);
      if (tracks.kind[track] == TrackKind::kThread) CollectHostSpans(TrackId{track}, &rank->second);
    }
  }

 private:
  void CollectWorks(uint32_t track, RankSpans* rank) {
    works_.ForEach(track, selected_, [&](uint32_t span, WorkClass work) {
      Intervals& of_class = work == WorkClass::kCompute         ? rank->compute
                            : work == WorkClass::kCommunication ? rank->communication
                                                                : rank->copies;
      AppendOrExtend(TimeOfSpan(trace_.spans(), span), &of_class);
    });
  }

  void CollectHostSpans(TrackId track, RankSpans* rank) {
    const auto inputs = rank->inputs.find(track);
    host_.ForEach(Row(track), [&](uint32_t span) {
      if (!IsSelected(selected_, span)) return;
      const Interval interval = TimeOfSpan(trace_.spans(), span);
      AppendOrExtend(interval, &rank->host_spans);
      if (host_.IsCall(span)) AppendOrExtend(interval, &rank->calls);
      if (host_.IsCommunication(span)) AppendOrExtend(interval, &rank->host_communication);
      if (inputs != rank->inputs.end() && host_.IsInput(span)) AppendOrExtend(interval, &inputs->second);
    });
    CollectAsyncCommunication(track, rank);
  }

  // A recording of torch has a collective of Gloo as an asynchronous span, behind the nested ones of the thread that
  // began it.
  void CollectAsyncCommunication(TrackId track, RankSpans* rank) {
    const SpanColumns& spans = trace_.spans();
    for (const uint32_t span : SpansOfTrack(trace_, Row(track)) | std::views::reverse) {
      if ((spans.flags[span] & span_flags::kAsync) == 0) return;
      if (IsSelected(selected_, span) && host_.IsCommunication(span))
        AppendOrExtend(TimeOfSpan(spans, span), &rank->host_communication);
    }
  }

  const Trace& trace_;
  const std::vector<uint8_t>* selected_;
  WorkFinder works_;
  HostSpans host_;
};

}  // namespace

StepParts::StepParts(const Trace& trace, const std::vector<uint8_t>* selected, std::span<const TrackId> tracks) {
  std::map<int32_t, RankSpans> ranks;
  for (const TrackId track : tracks)
    ranks[RankOfTrack(trace, track)].inputs[track];
  if (ranks.empty()) return;
  SpanCollector(trace, selected).Collect(&ranks);
  for (auto& [rank, spans] : ranks) {
    const bool has_works = !spans.compute.empty() || !spans.communication.empty() || !spans.copies.empty();
    Sets& sets = ranks_[rank];
    sets.compute = IntervalSet(std::move(spans.compute));
    sets.kernels =
        Union(sets.compute, IntervalSet(std::move(has_works ? spans.communication : spans.host_communication)));
    sets.works = Union(sets.kernels, IntervalSet(std::move(spans.copies)));
    sets.works_and_calls = Union(sets.works, IntervalSet(std::move(spans.calls)));
    sets.works_and_host = Union(sets.works, IntervalSet(std::move(spans.host_spans)));
    for (auto& [track, intervals] : spans.inputs) {
      const IntervalSet input(std::move(intervals));
      sets.inputs[track] = {input.Minus(sets.works), input.Minus(sets.works_and_calls)};
    }
  }
}

void StepParts::Divide(TrackId track, StepTimes* row) const {
  const Sets& sets = ranks_.at(row->rank);
  const int64_t begin = row->start_ns, end = SaturatingAdd(begin, row->duration_ns);
  const auto length = [&](const IntervalSet& set) { return set.LengthIn(begin, end); };
  const Sets::Inputs& inputs = sets.inputs.at(track);
  const int64_t beside_works = length(inputs.beside_works);
  const int64_t beside_calls = length(inputs.beside_works_and_calls);
  row->compute_ns = length(sets.compute);
  row->communication_ns = length(sets.kernels) - row->compute_ns;
  row->copy_ns = length(sets.works) - length(sets.kernels);
  row->input_ns = beside_works;
  // Works, input and calls, less works and input.
  row->host_ns = length(sets.works_and_calls) + beside_calls - length(sets.works) - beside_works;
  row->other_ns = length(sets.works_and_host) - length(sets.works_and_calls) - beside_calls;
  row->idle_ns = SaturatingSubtract(end, begin) - length(sets.works_and_host);
}

}  // namespace opscope
