// Steps of BuildFunctionEvents, one function each; every one runs once, in this order:
//   ListEvents -> LinkDeviceEvents -> PlaceUnlinkedCalls -> AttributeMemory -> BuildCallTree -> FoldRepeatedCalls ->
//   SumDeviceTimes
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

// Links of ops to the device events and runtime calls that carry their id.
struct KernelRange {
  uint32_t first = 0;
  uint32_t count = 0;
};

struct EventListWork {
  FunctionEvents events;
  // Events nest only within one lane: a thread, or "no thread".
  std::vector<uint32_t> lane;
  uint32_t lane_count = 0;
  std::vector<KernelRange> kernel_of;  // into kernels; exists when there are links
  std::vector<EventIndex> kernels;
};

inline bool IsCall(SpanKind kind) {
  return kind == SpanKind::kRuntimeCall || kind == SpanKind::kDriverCall;
}
// Whether Kineto links events of this kind to an op. A range of a device has the id of the user's range, but no link.
// REQUIRES: event i has a span.
bool IsLinkedKind(const Trace& trace, const FunctionEvents& events, size_t i);

inline constexpr double kNsPerUs = 1000;
inline double ToTorchUs(int64_t ns) {
  return static_cast<double>(ns) / kNsPerUs;
}

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
