// Attributes device work to torch's events, as torch does.
//
// Kineto gives a kernel, copy or runtime call the "External id" of the op that launched it. torch appends device events
// to that op's kernels and moves host events to the op's thread. An event without an op has its own CUPTI correlation
// as id. Older versions of Kineto wrote the correlation everywhere; there the op around the call is used
// (Trace::launches). A runtime call without an id is listed like an op, under its correlation. If that equals some op's
// id, the call gets the op's kernels too: an error of torch, kept because its tables show it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analysis/torch/function_event_list.h"
#include "analysis/torch/function_event_rules.h"
#include "analysis/torch/python_sum.h"

namespace opscope {
namespace {

// Identifies an op by its id, or by its row if ids are unreliable.
using OpKey = uint64_t;
constexpr OpKey KeyOfRow(SpanId op) {
  return uint64_t{1} << 32 | Row(op);
}

// The span that launched this one by Trace::launches, or kNone.
SpanId LauncherOf(const Trace& trace, SpanId span) {
  const LaunchColumns& launches = trace.launches();
  const auto found = std::lower_bound(launches.span.begin(), launches.span.end(), span);
  if (found == launches.span.end() || *found != span) return SpanId::kNone;
  return launches.launcher[static_cast<size_t>(found - launches.span.begin())];
}

// True if most calls within ops carry the op's id. Then an id equal to the own correlation means "linked to no op".
bool HasIdsOfOps(const Trace& trace, const EventListWork& work) {
  const SpanColumns& spans = trace.spans();
  size_t of_ops = 0, own = 0;
  for (size_t i = 0; i < work.events.size(); ++i) {
    const SpanId span = work.events.span[i];
    if (IsDeviceEvent(work.events, i) || !IsLinkedKind(trace, work.events, i)) continue;
    const SpanId launcher = LauncherOf(trace, span);
    const uint32_t id = spans.external_id[Row(span)];
    if (launcher == SpanId::kNone || id == 0) continue;
    if (spans.external_id[Row(launcher)] == id) ++of_ops;
    else if (spans.correlation[Row(span)] == id) ++own;
  }
  return of_ops > own;
}

// The op that launched event i; 0 for events that torch calls "frontend". has_ids_of_ops: result of HasIdsOfOps.
OpKey LaunchingOp(const Trace& trace, const EventListWork& work, bool has_ids_of_ops, size_t i) {
  const SpanColumns& spans = trace.spans();
  const SpanId span = work.events.span[i];
  const uint32_t id = IsLinkedKind(trace, work.events, i) ? spans.external_id[Row(span)] : 0;
  if (id == 0) return 0;
  const SpanId launcher = LauncherOf(trace, span);
  const bool is_of_call = launcher == SpanId::kNone || IsCall(spans.kind[Row(launcher)]);
  const bool is_of_its_op = !is_of_call && spans.external_id[Row(launcher)] == id;
  const bool is_own = id == spans.correlation[Row(span)];
  // In all versions a wait outside of ops has its own correlation as id.
  const bool is_wait = spans.kind[Row(span)] == SpanKind::kSynchronization;
  if (is_own && ((has_ids_of_ops && !is_of_its_op) || (is_wait && is_of_call))) return 0;
  if (launcher == SpanId::kNone || is_of_its_op) return id;
  return KeyOfRow(launcher);
}

using EventsByOp = std::unordered_map<OpKey, std::vector<uint32_t>>;

EventsByOp CollectLaunched(const Trace& trace, const EventListWork& work, bool has_ids_of_ops) {
  EventsByOp launched;
  for (size_t i = 0; i < work.events.size(); ++i)
    if (const OpKey op = LaunchingOp(trace, work, has_ids_of_ops, i)) launched[op].push_back(static_cast<uint32_t>(i));
  return launched;
}

void AttachTo(size_t op, const std::vector<uint32_t>& launched, EventListWork* work) {
  KernelRange& range = work->kernel_of[op];
  if (range.count == 0) range.first = static_cast<uint32_t>(work->kernels.size());
  for (uint32_t i : launched) {
    if (IsDeviceEvent(work->events, i)) {
      work->kernels.push_back(EventIndex{i});
      ++range.count;
    } else {
      work->lane[i] = work->lane[op];
      work->events.thread[i] = work->events.thread[op];
    }
  }
}

}  // namespace

bool IsLinkedKind(const Trace& trace, const FunctionEvents& events, size_t i) {
  const SpanColumns& spans = trace.spans();
  const uint32_t span = Row(events.span[i]);
  if (!IsDeviceEvent(events, i)) {
    // Most spans have a kind, which avoids comparing texts.
    const bool may_be_record = spans.kind[span] == SpanKind::kOther;
    return IsCall(spans.kind[span]) || (may_be_record && trace.text(spans.category[span]) == kEventRecord);
  }
  return (events.flags[i] & function_event_flags::kUserAnnotation) == 0;
}

void LinkDeviceEvents(const Trace& trace, EventListWork* work) {
  FunctionEvents& events = work->events;
  const bool has_ids_of_ops = HasIdsOfOps(trace, *work);
  const EventsByOp launched = CollectLaunched(trace, *work, has_ids_of_ops);
  if (launched.empty()) return;
  const size_t n = events.size();
  work->kernel_of.assign(n, {});
  const SpanColumns& spans = trace.spans();
  // Attaching changes lanes, so frontend events are determined beforehand.
  std::vector<uint32_t> id(n, 0);
  std::vector<uint8_t> is_frontend(n, 0);
  for (size_t i = 0; i < n; ++i) {
    if (IsDeviceEvent(events, i) || (events.flags[i] & function_event_flags::kAsync) != 0) continue;
    if (LaunchingOp(trace, *work, has_ids_of_ops, i) != 0) continue;
    const uint32_t span = Row(events.span[i]);
    is_frontend[i] = 1;
    const bool is_threadless = work->lane[i] + 1 == work->lane_count;
    const bool has_id = spans.kind[span] != SpanKind::kOverhead;
    id[i] = !has_id ? 0 : is_threadless ? spans.correlation[span] : spans.external_id[span];
  }
  for (size_t i = 0; i < n; ++i) {
    if (is_frontend[i] == 0) continue;
    for (const OpKey key : {OpKey{id[i]}, KeyOfRow(events.span[i])})
      if (auto found = launched.find(key); found != launched.end()) AttachTo(i, found->second, work);
  }
}

void SumDeviceTimes(EventListWork* work) {
  FunctionEvents& events = work->events;
  const size_t n = events.size();
  if (!work->kernel_of.empty()) {
    events.kernel_offset.assign(n + 1, 0);
    for (size_t i = 0; i < n; ++i) {
      const KernelRange range = work->kernel_of[i];
      for (uint32_t k = 0; k < range.count; ++k)
        events.kernels.push_back(work->kernels[range.first + k]);
      events.kernel_offset[i + 1] = static_cast<uint32_t>(events.kernels.size());
    }
  }
  if (events.use_device.empty()) return;
  events.device_time_total_us.assign(n, 0);
  // Children follow their parents in the list, so a backward pass knows every child before its parent.
  for (size_t i = n; i-- > 0;) {
    if ((events.flags[i] & function_event_flags::kAsync) != 0) continue;
    if (IsDeviceEvent(events, i)) {
      events.device_time_total_us[i] = events.end_us[i] - events.start_us[i];
      continue;
    }
    PythonSum kernels(events.compensated_sums), children(events.compensated_sums);
    if (!events.kernel_offset.empty()) {
      for (uint32_t k = events.kernel_offset[i]; k < events.kernel_offset[i + 1]; ++k) {
        const uint32_t kernel = Row(events.kernels[k]);
        kernels.Add(events.end_us[kernel] - events.start_us[kernel]);
      }
    }
    for (EventIndex c = events.first_child[i]; c != EventIndex::kNone; c = events.next_sibling[Row(c)])
      children.Add(events.device_time_total_us[Row(c)]);
    events.device_time_total_us[i] = kernels.Result() + children.Result();
  }
}

}  // namespace opscope
