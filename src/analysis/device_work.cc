// Classifies device spans and finds the calls that launched them. Classes depend on names, so each name is examined
// once and the result is cached by StringId. Launching calls are joined by correlation id: host spans with a
// correlation are sorted by (rank, correlation, begin) once, then each device span is a binary search. A hash map from
// correlation would not do, since merged traces repeat ids per rank.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/device_work.h"

#include <algorithm>
#include <string_view>

#include "analysis/tensor_cores.h"
#include "base/saturating.h"

namespace opscope {
namespace {

bool IsOfCollectives(std::string_view kernel) {
  for (const std::string_view library : {"nccl", "rccl", "hccl"})
    if (kernel.starts_with(library)) return true;
  return kernel.find("ncclKernel") != kernel.npos || kernel.find("ncclDevKernel") != kernel.npos;
}

int32_t RankOf(const Trace& trace, TrackId track) {
  const ProcessId process = trace.tracks().process[Row(track)];
  return process == ProcessId::kNone ? -1 : trace.processes().rank[Row(process)];
}

}  // namespace

template <typename Ask>
bool WorkFinder::Memoize(std::vector<uint8_t>* answers, StringId name, const Ask& ask) {
  if (name == StringId::kNone) return false;
  uint8_t& answer = (*answers)[Row(name)];
  if (answer == kUnknown) answer = ask(trace_.text(name)) ? kYes : kNo;
  return answer == kYes;
}

SpanId WorkFinder::OperatorOf(uint32_t span) const {
  const LaunchColumns& launches = trace_.launches();
  const auto found = std::lower_bound(launches.span.begin(), launches.span.end(), SpanId{span});
  if (found == launches.span.end() || *found != SpanId{span}) return SpanId::kNone;
  const SpanId launcher = launches.launcher[static_cast<size_t>(found - launches.span.begin())];
  const SpanKind kind = launcher == SpanId::kNone ? SpanKind::kRuntimeCall : trace_.spans().kind[Row(launcher)];
  return kind == SpanKind::kRuntimeCall || kind == SpanKind::kDriverCall ? SpanId::kNone : launcher;
}

std::optional<DeviceWork> WorkFinder::WorkOf(uint32_t span) {
  const SpanColumns& spans = trace_.spans();
  const SpanKind kind = spans.kind[span];
  if (kind != SpanKind::kKernel && kind != SpanKind::kCopy && kind != SpanKind::kSet) return std::nullopt;
  const int64_t begin = spans.start[span].ns;
  DeviceWork work{.span = span, .work_class = WorkClass::kCopy, .kind = kind, .begin = begin};
  work.end = SaturatingAdd(begin, spans.duration[span].ns);
  if (kind != SpanKind::kKernel) return work;
  const bool communicates = Memoize(&communicates_, spans.name[span], &IsOfCollectives);
  work.work_class = communicates ? WorkClass::kCommunication : WorkClass::kCompute;
  work.uses_tensor_cores = Memoize(&uses_tensor_cores_, spans.name[span], &UsesTensorCores);
  work.operator_span = OperatorOf(span);
  work.is_eligible = work.operator_span != SpanId::kNone &&
                     Memoize(&is_eligible_, spans.name[Row(work.operator_span)], &CanUseTensorCores);
  return work;
}

void LaunchCalls::FindCalls() {
  are_found_ = true;
  const SpanColumns& spans = trace_.spans();
  const TrackColumns& tracks = trace_.tracks();
  const std::optional<StringId> recording = trace_.FindString("Trace");  // category of the span of the recording itself
  std::vector<uint32_t> steps;
  for (const SpanId span : trace_.steps().span)
    if (span != SpanId::kNone) steps.push_back(Row(span));
  std::sort(steps.begin(), steps.end());
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kThread) continue;
    const int32_t rank = RankOf(trace_, TrackId{track});
    const uint32_t first = tracks.first_span[track];
    for (uint32_t span = first; span < first + tracks.span_count[track]; ++span) {
      if (spans.correlation[span] == 0 || (spans.flags[span] & span_flags::kAsync) != 0) continue;
      if (spans.category[span] == recording || std::binary_search(steps.begin(), steps.end(), span)) continue;
      calls_.push_back({rank, spans.correlation[span], spans.start[span].ns, span});
    }
  }
  std::sort(calls_.begin(), calls_.end());
  const auto is_same = [](const Call& a, const Call& b) { return a.rank == b.rank && a.correlation == b.correlation; };
  calls_.erase(std::unique(calls_.begin(), calls_.end(), is_same), calls_.end());
}

SpanId LaunchCalls::LaunchOf(uint32_t span) {
  const uint32_t correlation = trace_.spans().correlation[span];
  if (correlation == 0) return SpanId::kNone;
  if (!are_found_) FindCalls();
  const Call wanted{RankOf(trace_, trace_.spans().track[span]), correlation, INT64_MIN, 0};
  const auto found = std::lower_bound(calls_.begin(), calls_.end(), wanted);
  const bool is_it = found != calls_.end() && found->rank == wanted.rank && found->correlation == correlation;
  return is_it ? SpanId{found->span} : SpanId::kNone;
}

}  // namespace opscope
