// All columns follow from one fact: within a track spans are in pre-order, so a parent's row is smaller
// than its children's. Ends are clipped going forward, device times are summed going backward.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/span_measures.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/function_event_rules.h"

namespace opscope {
namespace {

int64_t EndOf(const SpanColumns& spans, size_t row) {
  return (spans.start[row] + spans.duration[row]).ns;
}

// Ends after clipping every span to its clipped parent.
std::vector<int64_t> ClippedEnds(const SpanColumns& spans) {
  std::vector<int64_t> ends(spans.size());
  for (size_t row = 0; row < spans.size(); ++row) {
    ends[row] = EndOf(spans, row);
    if (spans.parent[row] != SpanId::kNone) ends[row] = std::min(ends[row], ends[Row(spans.parent[row])]);
  }
  return ends;
}

std::vector<int64_t> SelfTimes(const SpanColumns& spans, const std::vector<int64_t>& ends) {
  std::vector<int64_t> self(spans.size());
  for (size_t row = 0; row < spans.size(); ++row) {
    self[row] = spans.duration[row].ns;
    if (spans.parent[row] == SpanId::kNone) continue;
    const uint32_t parent = Row(spans.parent[row]);
    const int64_t start = std::max(spans.start[row].ns, spans.start[parent].ns);
    const int64_t inside = std::max<int64_t>(0, (Timestamp{ends[row]} - Timestamp{start}).ns);
    self[parent] = (Timestamp{self[parent]} - Timestamp{inside}).ns;  // hostile children may add up to any number
  }
  // Only damaged input gets here: siblings that overlap on a track whose nesting was recorded by depth.
  for (int64_t& ns : self)
    ns = std::max<int64_t>(0, ns);
  return self;
}

class LaunchFinder {
 public:
  explicit LaunchFinder(const Trace& trace) {
    const SpanColumns& spans = trace.spans();
    for (size_t row = 0; row < spans.size(); ++row) {
      if (trace.tracks().kind[Row(spans.track[row])] != TrackKind::kThread) continue;
      if (spans.correlation[row] == 0 && spans.external_id[row] == 0) continue;
      const bool is_call = RoleOfCategory(trace.text(spans.category[row])).is_runtime;
      if (!is_call && spans.external_id[row] != 0) op_.try_emplace(spans.external_id[row], row);
      if (spans.correlation[row] != 0) call_.try_emplace(spans.correlation[row], row);
    }
  }

  // The op whose id the device span carries, else the call with its correlation; -1: neither.
  int64_t LauncherOf(const SpanColumns& spans, size_t device_span) const {
    if (auto op = op_.find(spans.external_id[device_span]); op != op_.end()) return static_cast<int64_t>(op->second);
    auto call = call_.find(spans.correlation[device_span]);
    return call == call_.end() ? -1 : static_cast<int64_t>(call->second);
  }

 private:
  std::unordered_map<uint32_t, size_t> op_;
  std::unordered_map<uint32_t, size_t> call_;
};

void MeasureDevice(const Trace& trace, SpanMeasures* measures) {
  const SpanColumns& spans = trace.spans();
  const TrackColumns& tracks = trace.tracks();
  const bool has_device = std::any_of(tracks.kind.begin(), tracks.kind.end(),
                                      [](TrackKind kind) { return kind == TrackKind::kDeviceStream; });
  if (!has_device) return;
  const LaunchFinder launches(trace);
  measures->device_self_ns.assign(spans.size(), 0);
  measures->device_total_ns.assign(spans.size(), 0);
  for (size_t row = 0; row < spans.size(); ++row) {
    if (tracks.kind[Row(spans.track[row])] != TrackKind::kDeviceStream) continue;
    measures->device_total_ns[row] = spans.duration[row].ns;
    measures->device_self_ns[row] = measures->self_ns[row];
    const int64_t launcher = launches.LauncherOf(spans, row);
    if (launcher >= 0) measures->device_self_ns[static_cast<size_t>(launcher)] += spans.duration[row].ns;
  }
  for (size_t row = spans.size(); row-- > 0;) {
    if (tracks.kind[Row(spans.track[row])] == TrackKind::kDeviceStream) continue;
    measures->device_total_ns[row] += measures->device_self_ns[row];
    if (spans.parent[row] == SpanId::kNone) continue;
    measures->device_total_ns[Row(spans.parent[row])] += measures->device_total_ns[row];
  }
}

void MeasureMemory(const Trace& trace, SpanMeasures* measures) {
  const AllocationColumns& allocations = trace.allocations();
  if (allocations.size() == 0) return;
  measures->self_memory_bytes.assign(trace.spans().size(), 0);
  const InnermostSpans innermost(trace);
  for (size_t i = 0; i < allocations.size(); ++i) {
    const uint32_t track = Row(allocations.track[i]);
    if (track >= trace.tracks().size()) continue;
    const int64_t row = innermost.At(track, allocations.time[i]);
    if (row < 0) continue;
    // Sizes of hostile files wrap as the machine does.
    int64_t& bytes = measures->self_memory_bytes[static_cast<size_t>(row)];
    bytes = static_cast<int64_t>(static_cast<uint64_t>(bytes) + static_cast<uint64_t>(allocations.bytes[i]));
  }
}

}  // namespace

InnermostSpans::InnermostSpans(const Trace& trace) : trace_(trace), ends_(ClippedEnds(trace.spans())) {
  const TrackColumns& tracks = trace.tracks();
  const SpanColumns& spans = trace.spans();
  nested_end_.reserve(tracks.size());
  for (size_t track = 0; track < tracks.size(); ++track) {
    const auto flags = spans.flags.subspan(tracks.first_span[track], tracks.span_count[track]);
    const auto nested =
        std::partition_point(flags.begin(), flags.end(), [](uint8_t f) { return (f & span_flags::kAsync) == 0; });
    nested_end_.push_back(tracks.first_span[track] + static_cast<uint32_t>(nested - flags.begin()));
  }
}

int64_t InnermostSpans::At(uint32_t track, Timestamp time) const {
  const SpanColumns& spans = trace_.spans();
  const auto first = spans.start.begin() + trace_.tracks().first_span[track];
  const auto last = spans.start.begin() + nested_end_[track];
  const auto after = std::upper_bound(first, last, time);
  if (after == first) return -1;
  int64_t row = after - spans.start.begin() - 1;
  while (ends_[static_cast<size_t>(row)] < time.ns) {
    const SpanId parent = spans.parent[static_cast<size_t>(row)];
    if (parent == SpanId::kNone) return -1;
    row = Row(parent);
  }
  return row;
}

SpanMeasures MeasureSpans(const Trace& trace) {
  SpanMeasures measures;
  const std::vector<int64_t> ends = ClippedEnds(trace.spans());
  measures.self_ns = SelfTimes(trace.spans(), ends);
  MeasureDevice(trace, &measures);
  MeasureMemory(trace, &measures);
  return measures;
}

}  // namespace opscope
