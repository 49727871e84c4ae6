// The end of a step is an instant named StopStep on two tracks, the interpreter's and the worker's. Per process, the
// track whose first stop is earlier is the program's; its stops are the ends of the steps. The error of a device's
// clock is estimated from below: among all launches, the largest violation of "launch before kernel" is the smallest
// possible error.
// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/timeline.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/saturating.h"
#include "import/text/json_number.h"
#include "trace/span_kinds.h"

namespace opscope {
namespace {

// The times at which each track stopped steps, in order.
std::map<TrackId, std::vector<Timestamp>> FindStops(const TraceBuilder& builder) {
  std::map<TrackId, std::vector<Timestamp>> stops;
  const InstantColumns instants = builder.added_instants();
  for (size_t i = 0; i < instants.size(); ++i) {
    if (builder.text(instants.name[i]) == "StopStep") stops[instants.track[i]].push_back(instants.time[i]);
  }
  for (auto& [track, times] : stops)
    std::sort(times.begin(), times.end());
  return stops;
}

// The interpreter stops a step when step() is called, the worker later: the track with the earlier stop is the
// program's.
std::map<ProcessId, std::vector<Timestamp>> StepEnds(TraceBuilder* builder) {
  std::map<ProcessId, std::vector<Timestamp>> ends;
  for (auto& [track, times] : FindStops(*builder)) {
    std::vector<Timestamp>& of_process = ends[builder->track(track).process];
    if (of_process.empty() || times.front() < of_process.front()) of_process = std::move(times);
  }
  return ends;
}

std::map<ProcessId, Timestamp> FirstBegins(TraceBuilder* builder) {
  std::map<ProcessId, Timestamp> begins;
  const SpanColumns spans = builder->added_spans();
  for (size_t i = 0; i < spans.size(); ++i) {
    Timestamp& begin = begins.try_emplace(builder->track(spans.track[i]).process, spans.start[i]).first->second;
    begin = std::min(begin, spans.start[i]);
  }
  return begins;
}

// Moves all spans of a track later by the track's delay.
void DelayTracks(const std::vector<Duration>& delays, TraceBuilder* builder) {
  const SpanColumns spans = builder->added_spans();
  for (uint32_t row = 0; row < spans.size(); ++row) {
    const Duration delay = delays[Row(spans.track[row])];
    if (delay.ns == 0 || spans.start[row] == kNoTime) continue;
    builder->SetStart(AddedSpan{row}, Timestamp{SaturatingAdd(spans.start[row].ns, delay.ns)});
  }
}

}  // namespace

int32_t NumberOfMegEngineDevice(std::string_view stream) {
  const std::string_view device = stream.substr(0, stream.find(':'));
  const auto number = ParseInteger(device.substr(std::min(device.find_first_of("0123456789"), device.size())));
  return number && *number <= INT32_MAX ? static_cast<int32_t>(*number) : -1;
}

void NumberMegEngineDevices(TraceBuilder* builder) {
  for (size_t i = 0; i < builder->track_count(); ++i) {
    TrackRow& track = builder->track(static_cast<TrackId>(i));
    if (track.kind != TrackKind::kDeviceStream) continue;
    track.device = NumberOfMegEngineDevice(track.name == StringId::kNone ? "" : builder->text(track.name));
  }
}

void AlignMegEngineDevices(TraceBuilder* builder) {
  const FlowColumns flows = builder->added_flows();
  const std::span<Timestamp> ends = builder->flow_end_times();
  std::vector<Duration> delays(builder->track_count());
  uint64_t early = 0;
  std::vector<size_t> launches;
  for (size_t i = 0; i < flows.size(); ++i) {
    const TrackId device = flows.end_track[i];
    if (builder->text(flows.category[i]) != "KernelLaunch") continue;
    if (builder->track(device).kind != TrackKind::kDeviceStream) continue;
    launches.push_back(i);
    if (flows.start_time[i] <= ends[i]) continue;
    delays[Row(device)] = std::max(delays[Row(device)], flows.start_time[i] - ends[i]);
    ++early;
  }
  if (early == 0) return;
  builder->AddProblem("device_clock_moved", -1, early);
  for (const size_t flow : launches)
    ends[flow] = ends[flow] + delays[Row(flows.end_track[flow])];
  DelayTracks(delays, builder);
}

void AlignMegEngineGraphDevices(TraceBuilder* builder) {
  const SpanColumns spans = builder->added_spans();
  const auto is_of_device = [&](size_t row) {
    return builder->track(spans.track[row]).kind == TrackKind::kDeviceStream;
  };
  // By correlation: the latest begin on a thread.
  std::unordered_map<uint64_t, Timestamp, MixedHash> dispatched;
  for (size_t row = 0; row < spans.size(); ++row) {
    if (is_of_device(row) || spans.correlation[row] == 0 || spans.start[row] == kNoTime) continue;
    Timestamp& begin = dispatched.try_emplace(spans.correlation[row], spans.start[row]).first->second;
    begin = std::max(begin, spans.start[row]);
  }
  std::vector<Duration> delays(builder->track_count());
  uint64_t early = 0;
  for (size_t row = 0; row < spans.size(); ++row) {
    if (!is_of_device(row) || spans.start[row] == kNoTime) continue;
    const auto launch = dispatched.find(spans.correlation[row]);
    if (launch == dispatched.end() || launch->second <= spans.start[row]) continue;
    Duration& delay = delays[Row(spans.track[row])];
    delay = std::max(delay, launch->second - spans.start[row]);
    ++early;
  }
  if (early == 0) return;
  builder->AddProblem("device_clock_moved", -1, early);
  DelayTracks(delays, builder);
}

void AddMegEngineSteps(TraceBuilder* builder) {
  if (builder->step_count() != 0) return;
  const auto ends = StepEnds(builder);
  if (ends.empty()) return;
  const auto begins = FirstBegins(builder);
  for (const auto& [process, times] : ends) {
    const StringId text = builder->Intern("steps");
    const auto begin = begins.find(process);
    SpanRow row;
    row.category = builder->Intern(kStepCategory);
    row.flags = span_flags::kStep;
    row.start = begin == begins.end() ? times[0] : std::min(begin->second, times[0]);
    row.track = builder->AddTrack({.process = process, .kind = TrackKind::kOther, .tid_text = text, .name = text});
    int64_t number = 0;
    for (const Timestamp end : times) {
      row.name = builder->Intern("ProfilerStep#" + std::to_string(number));
      row.duration = end - row.start;
      builder->AddStep(number++, row.name, builder->AddSpan(row));
      row.start = end;
    }
  }
}

}  // namespace opscope
