// Arrows from the table of flows, and those that follow from correlation numbers alone: many inputs have no flow
// events.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/timeline_flows.h"

#include <algorithm>
#include <tuple>

#include "analysis/device_work.h"

namespace opscope {
namespace {

bool IsDeviceSpan(const Trace& trace, uint32_t span) {
  return trace.tracks().kind[Row(trace.spans().track[span])] == TrackKind::kDeviceStream;
}

TimelineFlowKind KindOfFlow(const Trace& trace, size_t row, uint32_t from, uint32_t to) {
  const std::string_view category = trace.text(trace.flows().category[row]);
  if (category == "fwdbwd" || category == "forward_backward") return TimelineFlowKind::kForwardBackward;
  if (IsDeviceSpan(trace, to) && !IsDeviceSpan(trace, from)) return TimelineFlowKind::kLaunch;
  return category.starts_with("async") ? TimelineFlowKind::kAsync : TimelineFlowKind::kOther;
}

}  // namespace

std::vector<TimelineFlow> ListFlows(const Trace& trace) {
  const FlowColumns& flows = trace.flows();
  const SpanColumns& spans = trace.spans();
  std::vector<TimelineFlow> list;
  std::vector<uint8_t> is_launched(spans.size(), 0);
  for (size_t row = 0; row < flows.size(); ++row) {
    if (flows.start_span[row] == SpanId::kNone || flows.end_span[row] == SpanId::kNone) continue;
    const uint32_t from = Row(flows.start_span[row]), to = Row(flows.end_span[row]);
    const TimelineFlowKind kind = KindOfFlow(trace, row, from, to);
    if (kind == TimelineFlowKind::kLaunch) is_launched[to] = 1;
    list.push_back({kind, from, to});
  }
  LaunchCalls calls(trace);
  WorkFinder works(trace);
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    works.ForEach(track, nullptr, [&](uint32_t span, WorkClass work_class) {
      if (is_launched[span] != 0) return;
      SpanId from = calls.LaunchOf(span);
      if (from == SpanId::kNone) from = works.Describe(span, work_class).operator_span;
      if (from != SpanId::kNone) list.push_back({TimelineFlowKind::kLaunch, Row(from), span});
    });
  }
  const auto key = [](const TimelineFlow& flow) { return std::tuple(flow.from, flow.to, flow.kind); };
  std::sort(list.begin(), list.end(), [&](const TimelineFlow& a, const TimelineFlow& b) { return key(a) < key(b); });
  const auto is_same = [&](const TimelineFlow& a, const TimelineFlow& b) { return key(a) == key(b); };
  list.erase(std::unique(list.begin(), list.end(), is_same), list.end());
  return list;
}

}  // namespace opscope
