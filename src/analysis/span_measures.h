// What one span costs by itself: self time, device time that it launched, memory that it allocated.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// One entry per span; a column is empty when the Trace has nothing for it.
struct SpanMeasures {
  std::vector<int64_t> self_ns;            // duration without direct children, each clipped to its parent
  std::vector<int64_t> device_total_ns;    // host: launched beneath it; device: its duration
  std::vector<int64_t> device_self_ns;     // host: launched by it and no child; device: its self time
  std::vector<int64_t> self_memory_bytes;  // allocations minus frees while it was the innermost of its thread
};

// The innermost nested span of a track at a time. Asynchronous spans hold nothing.
class InnermostSpans {
 public:
  explicit InnermostSpans(const Trace& trace);  // O(n)
  // Row of the span, -1: none. O(log n) and the depth there.
  int64_t At(uint32_t track, Timestamp time) const;

 private:
  const Trace& trace_;
  std::vector<int64_t> ends_;         // each clipped to its parent's
  std::vector<uint32_t> nested_end_;  // by track: the row behind its last nested span
};

// O(n) in spans and device spans, O(log n) more per allocation.
SpanMeasures MeasureSpans(const Trace& trace);

}  // namespace opscope
