// Runs the steps that build torch's event list (function_event_list.h), and computes the attributes that torch computes
// on demand: self times, memory, ids. Sums follow Python's sum(), because printed digits depend on it.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/function_events.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/torch/flops.h"
#include "analysis/torch/function_event_list.h"
#include "analysis/torch/function_event_rules.h"
#include "analysis/torch/python_sum.h"
#include "base/saturating.h"

namespace opscope {
namespace {

constexpr std::string_view kEngineFrame = "autograd::engine::evaluate_function: ";

constexpr uint8_t kNoSelf = function_event_flags::kAsync | function_event_flags::kDevice;

std::string DeviceOf(const Trace& trace, const FunctionEventOptions& options) {
  if (options.use_device) return *options.use_device;
  const TrackColumns& tracks = trace.tracks();
  const bool has_device = std::any_of(tracks.kind.begin(), tracks.kind.end(),
                                      [](TrackKind kind) { return kind == TrackKind::kDeviceStream; });
  return has_device ? "cuda" : "";
}

template <typename Value>
double TimeOfChildren(const FunctionEvents& events, size_t i, Value value) {
  PythonSum sum(events.compensated_sums);
  for (EventIndex c = events.first_child[i]; c != EventIndex::kNone; c = events.next_sibling[Row(c)])
    sum.Add(value(Row(c)));
  return sum.Result();
}

int64_t SelfMemory(const FunctionEvents& events, const std::vector<int64_t>& usage, size_t i) {
  if (usage.empty() || (events.flags[i] & kNoSelf) != 0) return 0;
  int64_t self = usage[i];
  for (EventIndex c = events.first_child[i]; c != EventIndex::kNone; c = events.next_sibling[Row(c)])
    self = SaturatingSubtract(self, usage[Row(c)]);
  return self;
}

}  // namespace

FunctionEvents BuildFunctionEvents(const Trace& trace, const FunctionEventOptions& options) {
  EventListWork work;
  work.events.trace_start = TraceStart(trace, options);
  work.events.use_device = DeviceOf(trace, options);
  work.events.only_torch_flops = options.only_torch_flops;
  work.events.compensated_sums = options.compensated_sums;
  work.events.with_flops = IsSetInMetadata(trace, "with_flops");
  work.events.profile_memory = IsSetInMetadata(trace, "profile_memory");
  work.events.as_collected = options.as_collected;
  work.events.only_finished = options.only_finished;
  work.events.python_functions = options.python_functions;
  ListEvents(trace, &work);
  LinkDeviceEvents(trace, &work);
  PlaceUnlinkedCalls(trace, &work);
  if (options.as_collected) {
    ListAllocations(trace, &work);
    BuildCollectedTree(trace, &work);
  } else {
    AttributeMemory(trace, &work);
    BuildCallTree(&work);
    FoldRepeatedCalls(&work);
    SumDeviceTimes(&work);
  }
  const FlopRuleSet flop_rules = options.only_torch_flops ? FlopRuleSet::kOnlyTorch : FlopRuleSet::kAll;
  if (work.events.with_flops) work.events.flops = FlopsOfEvents(trace, work.events, flop_rules);
  return std::move(work.events);
}

std::string_view NameText(const Trace& trace, const FunctionEvents& events, size_t i) {
  const uint32_t name = Row(events.name[i]);
  if (name >= events.first_rewritten_name) return events.rewritten_names[name - events.first_rewritten_name];
  return trace.text(events.name[i]);
}

double CpuTimeTotal(const FunctionEvents& events, size_t i) {
  if (IsDeviceEvent(events, i)) return 0;
  const double recorded = events.end_us[i] - events.start_us[i];
  return events.overhead_us.empty() ? recorded : recorded - events.overhead_us[i];
}

Correction CorrectFunctionEvents(const SpanOverheads& overhead, FunctionEvents* events) {
  events->overhead_us.assign(events->size(), 0);
  for (size_t i = 0; i < events->size(); ++i) {
    const SpanId span = events->span[i];
    if (span != SpanId::kNone) events->overhead_us[i] = overhead.subtree_ns[Row(span)] / kNsPerUs;
  }
  Correction correction{.whole_ns = std::llround(overhead.whole_ns), .events = overhead.events};
  for (size_t i = 0; i < events->size(); ++i)
    if (CpuTimeTotal(*events, i) < 0 || SelfCpuTimeTotal(*events, i) < 0) ++correction.below_zero;
  return correction;
}

double SelfCpuTimeTotal(const FunctionEvents& events, size_t i) {
  if ((events.flags[i] & kNoSelf) != 0) return 0;
  return CpuTimeTotal(events, i) - TimeOfChildren(events, i, [&](size_t c) { return CpuTimeTotal(events, c); });
}

double DeviceTimeTotal(const FunctionEvents& events, size_t i) {
  return events.device_time_total_us.empty() ? 0 : events.device_time_total_us[i];
}

double SelfDeviceTimeTotal(const FunctionEvents& events, size_t i) {
  if ((events.flags[i] & function_event_flags::kAsync) != 0) return 0;
  return DeviceTimeTotal(events, i) - TimeOfChildren(events, i, [&](size_t c) { return DeviceTimeTotal(events, c); });
}

int64_t SelfCpuMemoryUsage(const FunctionEvents& events, size_t i) {
  return SelfMemory(events, events.cpu_memory_usage, i);
}

int64_t SelfDeviceMemoryUsage(const FunctionEvents& events, size_t i) {
  return SelfMemory(events, events.device_memory_usage, i);
}

int64_t CorrelationId(const Trace& trace, const FunctionEvents& events, size_t i) {
  if (events.span[i] == SpanId::kNone) return 0;
  const uint32_t span = Row(events.span[i]);
  if (trace.spans().kind[span] == SpanKind::kOverhead) return 0;
  const uint8_t flags = events.flags[i];
  const bool is_work =
      (flags & function_event_flags::kDevice) != 0 && (flags & function_event_flags::kUserAnnotation) == 0;
  const uint32_t correlation = trace.spans().correlation[span];
  return is_work || correlation != 0 ? correlation : trace.spans().external_id[span];
}

int64_t LinkedCorrelationId(const Trace& trace, const FunctionEvents& events, size_t i) {
  return events.span[i] != SpanId::kNone && IsLinkedKind(trace, events, i)
             ? trace.spans().external_id[Row(events.span[i])]
             : 0;
}

// A Kineto file has no scopes. There a backward function is a span with a forward thread, except the engine's frame
// around it, to which torch copies that number, or a span that the frame names (AccumulateGrad has no number).
ScopeType ScopeTypeOf(const Trace& trace, const FunctionEvents& events, size_t i) {
  if (events.span[i] == SpanId::kNone) return ScopeType::kFunction;
  const uint32_t span = Row(events.span[i]);
  const ScopeType scope = trace.spans().scope[span];
  if (scope != ScopeType::kUnknown) return scope;
  if ((events.flags[i] & function_event_flags::kUserAnnotation) != 0) return ScopeType::kUserScope;
  const std::string_view name = trace.text(trace.spans().name[span]);
  if (trace.spans().forward_thread[span] != 0 && !name.starts_with(kEngineFrame)) return ScopeType::kBackwardFunction;
  const SpanId parent = trace.spans().parent[span];
  const std::string_view around = parent == SpanId::kNone ? "" : trace.text(trace.spans().name[Row(parent)]);
  const bool is_backward = around.starts_with(kEngineFrame) && around.substr(kEngineFrame.size()) == name;
  return is_backward ? ScopeType::kBackwardFunction : ScopeType::kFunction;
}

std::string InputShapesText(const Trace& trace, ArgsId args) {
  std::string text = "[";
  for (const Argument& argument : trace.arguments(args)) {
    if (text.size() > 1) text += ", ";
    text += '[';
    if (argument.kind == ArgumentKind::kTensor) {
      for (size_t d = 0; d < argument.sizes.size(); ++d) {
        if (d > 0) text += ", ";
        text += std::to_string(argument.sizes[d]);
      }
    }
    text += ']';
  }
  return text + "]";
}

double SelfCpuTimeTotalOfAll(const FunctionEvents& events) {
  PythonSum sum(events.compensated_sums);
  for (size_t i = 0; i < events.size(); ++i)
    sum.Add(SelfCpuTimeTotal(events, i));
  return sum.Result();
}

}  // namespace opscope
