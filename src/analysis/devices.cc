// Measures how each device and stream spent its window: interval algebra over the spans of its streams
// (docs/reference/devices.md). Times of a device are unions, not sums, because streams overlap; "exposed"
// communication is union(kernels) - union(compute). A gap is explained by its end: if the call that launched the next
// work began after the gap did, the host was late; a short gap is launch latency; the rest is other waiting.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/devices.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/device_gaps.h"
#include "analysis/device_report.h"
#include "analysis/intervals.h"
#include "analysis/launch_delays.h"
#include "analysis/track_spans.h"
#include "base/natural_sort.h"
#include "base/saturating.h"

namespace opscope {
namespace {

struct Work {
  DeviceWork what;
  std::optional<Interval> launch;  // the call
};

Interval WindowOf(const std::vector<Work>& works) {
  Interval window{INT64_MAX, INT64_MIN};
  for (const Work& work : works) {
    window.begin = std::min(window.begin, work.what.time.begin);
    window.end = std::max(window.end, work.what.time.end);
  }
  return window;
}

template <typename Predicate>
UnionLength UnionOf(const std::vector<Work>& works, const Predicate& counts) {
  std::vector<Interval> chosen;
  for (const Work& work : works)
    if (counts(work.what)) chosen.push_back(work.what.time);
  return MeasureUnion(&chosen);
}

// The parts of idle time. `works`: by begin.
void ExplainIdleTime(const std::vector<LaunchedWork>& works, int64_t kernel_gap_ns, DeviceRow* row) {
  for (const DeviceGap& gap : FindGaps(works, kernel_gap_ns)) {
    int64_t& wait = gap.cause == GapCause::kHostWait     ? row->host_wait_ns
                    : gap.cause == GapCause::kKernelWait ? row->kernel_wait_ns
                                                         : row->other_wait_ns;
    wait = SaturatingAdd(wait, SaturatingSubtract(gap.end, gap.begin));
  }
  row->outside_ns = row->idle_ns();
  for (const int64_t wait : {row->host_wait_ns, row->kernel_wait_ns, row->other_wait_ns})
    row->outside_ns = SaturatingSubtract(row->outside_ns, wait);
}

void AddTimes(const std::vector<Work>& works, const Interval& window, DeviceRow* row) {
  std::vector<Interval> all;
  all.reserve(works.size() + 2);
  for (const Work& work : works)
    all.push_back(work.what.time);
  // The edges of the window, so that the time before the first span and after the last is a gap too.
  all.push_back({window.begin, window.begin});
  all.push_back({window.end, window.end});
  const UnionLength whole = MeasureUnion(&all);
  row->busy_ns = whole.covered;
  row->longest_idle_ns = whole.longest_gap;
  const auto of_kind = [&](SpanKind kind) {
    return UnionOf(works, [kind](const DeviceWork& work) { return work.kind == kind; }).covered;
  };
  row->kernel_ns = of_kind(SpanKind::kKernel);
  row->copy_ns = of_kind(SpanKind::kCopy);
  row->set_ns = of_kind(SpanKind::kSet);
  const auto of_class = [&](WorkClass work_class) {
    return UnionOf(works, [work_class](const DeviceWork& work) { return work.work_class == work_class; }).covered;
  };
  row->tensor_core_ns = UnionOf(works, [](const DeviceWork& work) { return work.uses_tensor_cores; }).covered;
  row->tensor_core_eligible_ns =
      UnionOf(works, [](const DeviceWork& work) { return work.uses_tensor_cores || work.is_eligible; }).covered;
  row->compute_ns = of_class(WorkClass::kCompute);
  row->communication_ns = of_class(WorkClass::kCommunication);
  // Compute and communication together are the kernels.
  row->exposed_communication_ns = row->kernel_ns - row->compute_ns;
  row->overlap_ns = row->communication_ns - row->exposed_communication_ns;
  row->exposed_copy_ns = row->busy_ns - row->kernel_ns;
}

DeviceRow Measure(std::vector<Work>* works, const Interval& window, int64_t kernel_gap_ns) {
  DeviceRow row;
  row.spans = works->size();
  row.window_ns = SaturatingSubtract(window.end, window.begin);
  NaturalSort(works, [](const Work& a, const Work& b) { return a.what.time.begin < b.what.time.begin; });
  AddTimes(*works, window, &row);
  std::vector<LaunchedWork> launched;
  launched.reserve(works->size());
  for (const Work& work : *works)
    launched.push_back({work.what.time, work.launch});
  ExplainIdleTime(launched, kernel_gap_ns, &row);
  row.launches = MeasureLaunches(launched, row.window_ns);
  return row;
}

std::vector<Work> WorksOf(uint32_t track, const std::vector<uint8_t>* selected, DeviceAnalysisState* device_works) {
  const Trace& trace = device_works->trace;
  std::vector<Work> works;
  device_works->finder.ForEach(track, selected, [&](uint32_t span, WorkClass work_class) {
    Work& work = works.emplace_back(Work{device_works->finder.Describe(span, work_class), std::nullopt});
    const SpanId call = device_works->calls.LaunchOf(span);
    if (call != SpanId::kNone) work.launch = TimeOfSpan(trace.spans(), Row(call));
  });
  return works;
}

}  // namespace

std::vector<DeviceRow> MeasureDevices(const DeviceOptions& options, DeviceAnalysisState* device_works) {
  const Trace& trace = device_works->trace;
  const TrackColumns& tracks = trace.tracks();
  // By rank, number of the device, process; its streams by number. Files have them in any order.
  std::map<std::tuple<int32_t, int32_t, ProcessId>, std::map<std::pair<int64_t, TrackId>, std::vector<Work>>> devices;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    std::vector<Work> works = WorksOf(track, options.selected, device_works);
    if (works.empty()) continue;
    const ProcessId process = tracks.process[track];
    const int32_t rank = process == ProcessId::kNone ? -1 : trace.processes().rank[Row(process)];
    devices[{rank, tracks.device[track], process}].emplace(std::pair(tracks.tid[track], TrackId{track}),
                                                           std::move(works));
  }
  std::vector<DeviceRow> rows;
  for (auto& [device, streams] : devices) {
    std::vector<Work> all;
    for (const auto& [stream, works] : streams)
      all.insert(all.end(), works.begin(), works.end());
    const Interval window = WindowOf(all);
    const auto add = [&](TrackId stream, std::vector<Work>* works) {
      DeviceRow& row = rows.emplace_back(Measure(works, window, options.kernel_gap_ns));
      row.process = std::get<ProcessId>(device);
      row.device = std::get<1>(device);
      row.stream = stream;
    };
    add(TrackId::kNone, &all);
    for (auto& [stream, works] : streams)
      add(stream.second, &works);
  }
  return rows;
}

}  // namespace opscope
