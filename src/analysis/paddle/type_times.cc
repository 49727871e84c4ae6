// Measures the time of each event type and device as the length of a union of intervals, so that overlapping events
// count once. Host nodes are sorted by start, so they are joined as they come and few intervals remain. Overlap of
// communication and computation is |A| + |B| - |A u B|. Paddle counts communication calls by distinct times, and so
// does CountDistinct.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/paddle/type_times.h"

#include <algorithm>

#include "analysis/track_spans.h"
#include "base/saturating.h"

namespace opscope {
namespace {

using enum PaddleEventType;

template <typename Value>
void AddOnce(const Value& value, std::vector<Value>* values) {
  if (std::find(values->begin(), values->end(), value) == values->end()) values->push_back(value);
}

// Number of distinct intervals: Paddle's count of communication calls.
uint64_t CountDistinct(std::vector<Interval> intervals) {
  const auto key = [](const Interval& a) { return std::pair(a.begin, a.end); };
  std::sort(intervals.begin(), intervals.end(), [&](const Interval& a, const Interval& b) { return key(a) < key(b); });
  const auto last = std::unique(intervals.begin(), intervals.end(),
                                [&](const Interval& a, const Interval& b) { return key(a) == key(b); });
  return static_cast<uint64_t>(last - intervals.begin());
}

int64_t Covered(std::vector<Interval>* intervals) {
  return MeasureUnion(intervals).covered;
}

}  // namespace

PaddleTypeTimes::PaddleTypeTimes(const Trace& trace, const PaddleNodeTrees& trees, const PaddleNodeMeasures& measures,
                                 PaddleNameTraits* traits)
    : trace_(trace),
      spans_(trace.spans()),
      trees_(trees),
      measures_(measures),
      traits_(traits),
      is_communication_(trees.size()) {
}

Interval PaddleTypeTimes::TimeOf(SpanId span) const {
  return TimeOfSpan(spans_, Row(span));
}

Interval PaddleTypeTimes::TimeOfNode(uint32_t node) const {
  return {trees_.start[node], SaturatingAdd(trees_.start[node], spans_.duration[Row(trees_.span[node])].ns)};
}

void PaddleTypeTimes::CountHostType(PaddleEventType type) {
  if (calls_[static_cast<size_t>(type)]++ == 0) AddOnce(type, &host_types_);
}

void PaddleTypeTimes::AddThread(const PaddleThread& thread, std::span<const uint32_t> nodes) {
  JoinHostTimes(thread);
  for (const uint32_t node : nodes) {
    if (trees_.is_root(node)) continue;
    CountHostType(trees_.type[node]);
    AddLaunches(node);
    AddToDistribution(node);
  }
}

void PaddleTypeTimes::JoinHostTimes(const PaddleThread& thread) {
  std::array<bool, kPaddleEventTypes> is_begun = {};
  for (uint32_t node = thread.first_node + 1; node < thread.end_node; ++node) {
    const auto type = static_cast<size_t>(trees_.type[node]);
    Intervals& joined = host_times_[type];
    const Interval time = TimeOfNode(node);
    if (is_begun[type] && time.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, time.end);
    } else {
      joined.push_back(time);
      is_begun[type] = true;
    }
  }
}

void PaddleTypeTimes::AddLaunches(uint32_t node) {
  for (uint32_t call = trees_.first_call[node]; call < trees_.first_call[node + 1]; ++call) {
    CountHostType(kCudaRuntime);
    host_times_[static_cast<size_t>(kCudaRuntime)].push_back(TimeOf(trees_.call[call]));
    for (const SpanId span : trees_.devices_of(call)) {
      const PaddleEventType type = measures_.types.Of(Row(span));
      Device* const device = DeviceOf(span);
      AddOnce(type, &device->types);
      device->times[static_cast<size_t>(type)].push_back(TimeOf(span));
      ++calls_[static_cast<size_t>(type)];
    }
  }
}

PaddleTypeTimes::Device* PaddleTypeTimes::DeviceOf(SpanId span) {
  const TrackColumns& tracks = trace_.tracks();
  const uint32_t track = Row(spans_.track[Row(span)]);
  int64_t number = tracks.device[track];
  if (number < 0 && tracks.process[track] != ProcessId::kNone)
    number = trace_.processes().pid[Row(tracks.process[track])];
  const auto [found, is_new] = device_rows_.try_emplace(number, devices_.size());
  if (is_new) devices_.emplace_back().number = static_cast<uint64_t>(number);
  return &devices_[found->second];
}

// Kernels launched by a communication call, or named as such, are communication. A kernel launched by a call below a
// communication node counts as computation too, as in Paddle.
void PaddleTypeTimes::AddToDistribution(uint32_t node) {
  const SpanId span = trees_.span[node];
  const PaddleEventType type = trees_.type[node];
  const bool is_own =
      type == kCommunication ||
      (type == kOperator && traits_->Has(spans_.name[Row(span)], PaddleNameTraits::kCommunicationOperator));
  is_communication_[node] = is_own || is_communication_[trees_.parent[node]];
  if (is_own) host_communication_.push_back(TimeOfNode(node));
  for (uint32_t call = trees_.first_call[node]; call < trees_.first_call[node + 1]; ++call) {
    for (const SpanId device : trees_.devices_of(call)) {
      if (measures_.types.Of(Row(device)) != kKernel) continue;
      const bool is_named = traits_->Has(spans_.name[Row(device)], PaddleNameTraits::kCommunicationKernel);
      if (is_communication_[node] || is_named) device_communication_.push_back(TimeOf(device));
      if (!is_own && !is_named) computation_.push_back(TimeOf(device));
    }
  }
}

void PaddleTypeTimes::MoveTo(const std::vector<PaddlePhase>& phases, PaddleStatistics* statistics) {
  statistics->total_time = Covered(&host_times_[static_cast<size_t>(kProfileStep)]);
  MoveDevices(statistics);
  MoveHostTypes(phases, statistics);
  PaddleDistribution& distribution = statistics->distribution;
  Intervals communication = std::move(host_communication_);
  communication.insert(communication.end(), device_communication_.begin(), device_communication_.end());
  distribution.any = !communication.empty();
  distribution.communication = Covered(&communication);
  distribution.computation = Covered(&computation_);
  communication.insert(communication.end(), computation_.begin(), computation_.end());
  distribution.overlap =
      SaturatingSubtract(SaturatingAdd(distribution.communication, distribution.computation), Covered(&communication));
}

void PaddleTypeTimes::MoveHostTypes(const std::vector<PaddlePhase>& phases, PaddleStatistics* statistics) {
  std::vector<PaddleTypeTime>& types = statistics->host_types;
  for (const PaddleEventType type : host_types_) {
    if (type == kCommunication) continue;
    types.push_back({type, calls_[static_cast<size_t>(type)], Covered(&host_times_[static_cast<size_t>(type)])});
    const auto phase =
        std::find_if(phases.begin(), phases.end(), [&](const PaddlePhase& each) { return each.type == type; });
    if (phase == phases.end() || type == kProfileStep) continue;
    types.back().calls = phase->item.calls;
    types.back().time = phase->item.host.total;
  }
  if (!host_communication_.empty())
    types.push_back({kCommunication, CountDistinct(host_communication_), Covered(&host_communication_)});
  std::stable_sort(types.begin(), types.end(),
                   [](const PaddleTypeTime& a, const PaddleTypeTime& b) { return a.time > b.time; });
}

void PaddleTypeTimes::MoveDevices(PaddleStatistics* statistics) {
  std::vector<PaddleEventType> types;
  std::array<Intervals, kPaddleEventTypes> times;
  for (Device& device : devices_) {
    for (const PaddleEventType type : device.types) {
      AddOnce(type, &types);
      const Intervals& of_device = device.times[static_cast<size_t>(type)];
      Intervals& all = times[static_cast<size_t>(type)];
      all.insert(all.end(), of_device.begin(), of_device.end());
    }
    statistics->devices.push_back({device.number, Covered(&device.times[static_cast<size_t>(kKernel)])});
  }
  for (const PaddleEventType type : types)
    statistics->device_types.push_back(
        {type, calls_[static_cast<size_t>(type)], Covered(&times[static_cast<size_t>(type)])});
  if (!device_communication_.empty())
    statistics->device_types.push_back(
        {kCommunication, CountDistinct(device_communication_), Covered(&device_communication_)});
}

}  // namespace opscope
