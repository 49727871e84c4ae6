// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/devices.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/intervals.h"
#include "base/saturating.h"

namespace opscope {
namespace {

enum Work : uint8_t { kKernel, kCopy, kSet, kKinds, kNone };

Work WorkOf(SpanKind kind) {
  switch (kind) {
    case SpanKind::kKernel:
      return kKernel;
    case SpanKind::kCopy:
      return kCopy;
    case SpanKind::kSet:
      return kSet;
    default:
      return kNone;
  }
}

struct Busy {
  std::vector<Interval> kinds[kKinds];

  void Add(const Busy& other) {
    for (int kind = 0; kind < kKinds; ++kind)
      kinds[kind].insert(kinds[kind].end(), other.kinds[kind].begin(), other.kinds[kind].end());
  }
};

Interval WindowOf(const Busy& busy) {
  Interval window{INT64_MAX, INT64_MIN};
  for (const std::vector<Interval>& kind : busy.kinds) {
    for (const Interval& interval : kind) {
      window.begin = std::min(window.begin, interval.begin);
      window.end = std::max(window.end, interval.end);
    }
  }
  return window;
}

DeviceRow Measure(Busy* busy, const Interval& window) {
  DeviceRow row;
  row.window_ns = SaturatingSubtract(window.end, window.begin);
  std::vector<Interval> all;
  for (std::vector<Interval>& kind : busy->kinds)
    all.insert(all.end(), kind.begin(), kind.end());
  row.spans = all.size();
  // The edges of the window, so that the time before the first span and after the last is a gap too.
  all.push_back({window.begin, window.begin});
  all.push_back({window.end, window.end});
  const Union whole = MeasureUnion(&all);
  row.busy_ns = whole.covered;
  row.longest_idle_ns = whole.longest_gap;
  row.kernel_ns = MeasureUnion(&busy->kinds[kKernel]).covered;
  row.copy_ns = MeasureUnion(&busy->kinds[kCopy]).covered;
  row.set_ns = MeasureUnion(&busy->kinds[kSet]).covered;
  return row;
}

Busy BusyOf(const Trace& trace, uint32_t track, const std::vector<uint8_t>* selected) {
  const SpanColumns& spans = trace.spans();
  Busy busy;
  const uint32_t first = trace.tracks().first_span[track];
  for (uint32_t span = first; span < first + trace.tracks().span_count[track]; ++span) {
    if (selected != nullptr && (*selected)[span] == 0) continue;
    const Work work = WorkOf(spans.kind[span]);
    if (work == kNone) continue;
    const int64_t begin = spans.start[span].ns;
    busy.kinds[work].push_back({begin, SaturatingAdd(begin, spans.duration[span].ns)});
  }
  return busy;
}

}  // namespace

std::vector<DeviceRow> MeasureDevices(const Trace& trace, const std::vector<uint8_t>* selected) {
  const TrackColumns& tracks = trace.tracks();
  std::map<std::pair<ProcessId, int32_t>, std::vector<std::pair<TrackId, Busy>>> devices;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kDeviceStream) continue;
    Busy busy = BusyOf(trace, track, selected);
    const bool did_something =
        std::any_of(busy.kinds, busy.kinds + kKinds, [](const auto& kind) { return !kind.empty(); });
    if (did_something) devices[{tracks.process[track], tracks.device[track]}].emplace_back(TrackId{track}, busy);
  }
  std::vector<DeviceRow> rows;
  for (auto& [device, streams] : devices) {
    Busy all;
    for (const auto& stream : streams)
      all.Add(stream.second);
    const Interval window = WindowOf(all);
    const auto add = [&](TrackId stream, Busy* busy) {
      DeviceRow& row = rows.emplace_back(Measure(busy, window));
      row.process = device.first;
      row.device = device.second;
      row.stream = stream;
    };
    add(TrackId::kNone, &all);
    for (auto& [stream, busy] : streams)
      add(stream, &busy);
  }
  return rows;
}

}  // namespace opscope
