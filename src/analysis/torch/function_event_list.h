// The steps of BuildFunctionEvents. Each runs once, in this order:
//   ListEvents -> LinkDeviceEvents -> PlaceUnlinkedCalls -> AttributeMemory -> BuildCallTree -> FoldRepeatedCalls
//   -> SumDeviceTimes
// and with as_collected:
//   ListEvents -> LinkDeviceEvents -> PlaceUnlinkedCalls -> ListAllocations -> BuildCollectedTree
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/torch/function_events.h"

namespace opscope {

// A range of EventListWork::kernels: the device events of one op.
struct KernelRange {
  uint32_t first = 0;
  uint32_t count = 0;
};

struct EventListWork {
  FunctionEvents events;
  // By event. Events nest only within a lane: a thread, or the extra lane for events without one.
  std::vector<uint32_t> lane;
  uint32_t lane_count = 0;
  std::vector<KernelRange> kernel_of;  // by event; empty if there are no links
  std::vector<EventIndex> kernels;
};

inline bool IsDeviceEvent(const FunctionEvents& events, size_t i) {
  return (events.flags[i] & function_event_flags::kDevice) != 0;
}
inline bool IsCall(SpanKind kind) {
  return kind == SpanKind::kRuntimeCall || kind == SpanKind::kDriverCall;
}
// True if Kineto links events of this kind to an op. A device range has the id of the user's range, but no link.
// REQUIRES: event i has a span.
bool IsLinkedKind(const Trace& trace, const FunctionEvents& events, size_t i);

inline constexpr double kNsPerUs = 1000;
inline double ToTorchUs(int64_t ns) {
  return static_cast<double>(ns) / kNsPerUs;
}

// Makes the listed rows the events, in this order, and renumbers the links between events. For steps that reorder or
// remove events, before SumDeviceTimes.
void ChooseEvents(const std::vector<uint32_t>& rows, EventListWork* work);

Timestamp TraceStart(const Trace& trace, const FunctionEventOptions& options);
void ListEvents(const Trace& trace, EventListWork* work);
void LinkDeviceEvents(const Trace& trace, EventListWork* work);
void PlaceUnlinkedCalls(const Trace& trace, EventListWork* work);
void AttributeMemory(const Trace& trace, EventListWork* work);
void BuildCallTree(EventListWork* work);
void FoldRepeatedCalls(EventListWork* work);
void SumDeviceTimes(EventListWork* work);
void ListAllocations(const Trace& trace, EventListWork* work);
void BuildCollectedTree(const Trace& trace, EventListWork* work);

}  // namespace opscope
