// Lists the arrows between spans: from a call to the work of a device that it launched,
// from a forward operator to its backward operator, and all others that the input has.
//
//   for (const TimelineFlow& flow : ListFlows(trace)) Draw(flow.from, flow.to);
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// What an arrow means.
enum class TimelineFlowKind : uint8_t {
  // From the host to the work of a device that it launched.
  kLaunch = 0,
  // From a forward operator to the backward operator that belongs to it.
  kForwardBackward = 1,
  // Of a category that begins with "async", where it is no launch.
  kAsync = 2,
  kOther = 3,
};

// One arrow between two spans.
struct TimelineFlow {
  TimelineFlowKind kind = TimelineFlowKind::kOther;
  // Rows of trace.spans().
  uint32_t from = 0, to = 0;
};

// The flows of the input that begin and end in a span, and for each work of a device
// without one, the arrow from its launching call, else from its operator. By `from`,
// then by `to`, each once. O(n log n) in flows and works.
[[nodiscard]] std::vector<TimelineFlow> ListFlows(const Trace& trace);

}  // namespace opscope
