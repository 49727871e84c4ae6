// Classifies device spans and finds the calls that launched them. Classes depend on names, so each name is examined
// once and the result is cached by StringId. Launching calls are joined by correlation id: host spans with a
// correlation are sorted by (rank, correlation, begin) once, then each device span is a binary search. A hash map from
// correlation would not do, since merged traces repeat ids per rank.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/device_work.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "analysis/host_spans.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/tensor_cores.h"
#include "base/huge_pages.h"
#include "base/natural_sort.h"

namespace opscope {
namespace {

bool IsOfCollectives(std::string_view kernel) {
  for (const std::string_view library : {"nccl", "rccl", "hccl"})
    if (kernel.starts_with(library)) return true;
  return kernel.find("ncclKernel") != kernel.npos || kernel.find("ncclDevKernel") != kernel.npos;
}

}  // namespace

WorkFinder::WorkFinder(const Trace& trace)
    : trace_(trace),
      communicates_(trace, &IsOfCollectives),
      uses_tensor_cores_(trace, &UsesTensorCores),
      is_eligible_(trace, &CanUseTensorCores) {
}

SpanId WorkFinder::OperatorOf(uint32_t span) {
  const LaunchColumns& launches = trace_.launches();
  const auto is_it = [&](size_t at) { return at < launches.size() && launches.span[at] == SpanId{span}; };
  if (!is_it(++last_launch_)) {  // callers go through the spans in their order, most often
    last_launch_ = static_cast<size_t>(std::lower_bound(launches.span.begin(), launches.span.end(), SpanId{span}) -
                                       launches.span.begin());
    if (!is_it(last_launch_)) return SpanId::kNone;
  }
  const SpanId launcher = launches.launcher[last_launch_];
  const SpanKind kind = launcher == SpanId::kNone ? SpanKind::kRuntimeCall : trace_.spans().kind[Row(launcher)];
  return kind == SpanKind::kRuntimeCall || kind == SpanKind::kDriverCall ? SpanId::kNone : launcher;
}

std::optional<WorkClass> WorkFinder::ClassOf(uint32_t span) {
  const SpanColumns& spans = trace_.spans();
  const SpanKind kind = spans.kind[span];
  if (kind == SpanKind::kCopy || kind == SpanKind::kSet) return WorkClass::kCopy;
  if (kind != SpanKind::kKernel) return std::nullopt;
  return communicates_(spans.name[span]) ? WorkClass::kCommunication : WorkClass::kCompute;
}

DeviceWork WorkFinder::Describe(uint32_t span, WorkClass work_class) {
  const SpanColumns& spans = trace_.spans();
  DeviceWork work{.time = TimeOfSpan(spans, span), .work_class = work_class, .kind = spans.kind[span]};
  if (work.kind != SpanKind::kKernel) return work;
  work.uses_tensor_cores = uses_tensor_cores_(spans.name[span]);
  work.operator_span = OperatorOf(span);
  work.is_eligible = work.operator_span != SpanId::kNone && is_eligible_(spans.name[Row(work.operator_span)]);
  return work;
}

void LaunchCalls::FindCalls() {
  are_found_ = true;
  const SpanColumns& spans = trace_.spans();
  const HostSpans host(trace_);
  const TrackColumns& tracks = trace_.tracks();
  size_t with_correlation = 0;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kThread) continue;
    const auto correlations = spans.correlation.subspan(tracks.first_span[track], tracks.span_count[track]);
    with_correlation +=
        correlations.size() - static_cast<size_t>(std::count(correlations.begin(), correlations.end(), 0u));
  }
  ReserveOnHugePages(&calls_, with_correlation);
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const int32_t rank = RankOfTrack(trace_, TrackId{track});
    host.ForEach(track, [&](uint32_t span) {
      if (spans.correlation[span] != 0) calls_.push_back({rank, spans.correlation[span], spans.start[span].ns, span});
    });
  }
  NaturalSort(&calls_, std::less<>());
  const auto is_same = [](const Call& a, const Call& b) { return a.rank == b.rank && a.correlation == b.correlation; };
  calls_.erase(std::unique(calls_.begin(), calls_.end(), is_same), calls_.end());
}

SpanId LaunchCalls::LaunchOf(uint32_t span) {
  return CallOf(RankOfTrack(trace_, trace_.spans().track[span]), trace_.spans().correlation[span]);
}

SpanId LaunchCalls::CallOf(int32_t rank, uint32_t correlation) {
  if (correlation == 0) return SpanId::kNone;
  if (!are_found_) FindCalls();
  const auto is_it = [&](const Call& call) { return call.rank == rank && call.correlation == correlation; };
  // A stream runs its works in the order of their launches, and several streams run nearly in that order.
  const size_t end = std::min(found_last_ + 8, calls_.size());
  for (size_t next = found_last_ - std::min<size_t>(found_last_, 4); next < end; ++next) {
    if (!is_it(calls_[next])) continue;
    found_last_ = next;
    return SpanId{calls_[next].span};
  }
  const Call wanted{rank, correlation, INT64_MIN, 0};
  const auto found = std::lower_bound(calls_.begin(), calls_.end(), wanted);
  if (found == calls_.end() || !is_it(*found)) return SpanId::kNone;
  found_last_ = static_cast<size_t>(found - calls_.begin());
  return SpanId{found->span};
}

}  // namespace opscope
