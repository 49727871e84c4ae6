// Ends of arrows are collected while planes are read, because a device's plane may come before or after the host's.
// Calls are found by correlation, producers by type and number. A consumer without its producer is a problem; device
// work without its call is not, because the call may not have been recorded.
// SPDX-License-Identifier: Apache-2.0
#include "import/xla/xplane_links.h"

#include <string>

#include "import/text/json_number.h"

namespace opscope {

void XPlaneLinks::Add(const SpanRow& row, const XEventFacts& facts, AddedSpan span, bool is_device, int64_t offset) {
  const End begin{span, row.start, row.track, offset};
  if (facts.step && !is_device) has_host_steps_ = true;
  if (facts.correlation != 0) {
    if (is_device) {
      if (builder_->track(row.track).kind == TrackKind::kDeviceStream)
        device_events_.emplace_back(facts.correlation, begin);
    } else {
      calls_.try_emplace(facts.correlation, begin);
    }
  }
  if (facts.produces) producers_.try_emplace({facts.producer_type, *facts.produces}, begin);
  if (facts.consumes) consumers_.push_back({{facts.consumer_type, *facts.consumes}, begin});
}

void XPlaneLinks::AddDeviceStep(const SpanRow& row, std::optional<int64_t> number, AddedSpan span) {
  if (step_track_ == TrackId::kNone) step_track_ = row.track;
  if (row.track != step_track_) return;
  if (!number) {  // the number is the name
    number = ParseInteger(builder_->text(row.name));
    if (!number || *number < 0) return;
  }
  device_steps_.push_back({*number, row.name, span});
}

void XPlaneLinks::AddArrow(const char* category, uint64_t id, StringId name, const End& from, const End& to) {
  FlowRow flow;
  flow.id = id;
  flow.category = builder_->Intern(category);
  flow.name = name;
  flow.start_time = from.time;
  flow.start_track = from.track;
  flow.start_span = from.span;
  flow.end_time = to.time;
  flow.end_track = to.track;
  flow.end_span = to.span;
  builder_->AddFlow(flow);
}

void XPlaneLinks::Finish(bool has_python_calls) {
  for (const auto& [correlation, end] : device_events_) {
    const auto call = calls_.find(correlation);
    if (call != calls_.end()) AddArrow("ac2g", correlation, builder_->Intern("ac2g"), call->second, end);
  }
  for (const auto& [key, end] : consumers_) {
    const auto producer = producers_.find(key);
    if (producer != producers_.end()) {
      AddArrow("context", key.second, builder_->Intern("context " + std::to_string(key.first)), producer->second, end);
    } else {
      builder_->AddProblem("unpaired_flow", end.offset);
    }
  }
  if (!has_host_steps_) {
    for (const DeviceStep& step : device_steps_) {
      builder_->SetStep(step.span);
      builder_->AddStep(step.number, step.name, step.span);
    }
  }
  if (has_python_calls) {
    builder_->SetPythonCalls();
    builder_->FillStacksFromCalls();
  }
}

}  // namespace opscope
