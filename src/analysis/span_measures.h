// What one span costs by itself: self time, device time that it launched, memory that it allocated.
//
// Thread rule: pure functions; several threads may work in one call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_team.h"
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
  // `ends`: of each span, clipped to its parent's. They outlive this.
  InnermostSpans(const Trace& trace, std::span<const int64_t> ends);
  // Row of the span, -1: none. O(log n) and the depth there.
  int64_t At(uint32_t track, Timestamp time) const;

 private:
  const Trace& trace_;
  std::vector<int64_t> own_ends_;     // where nobody gave them
  std::span<const int64_t> ends_;     // each clipped to its parent's
  std::vector<uint32_t> nested_end_;  // by track: the row behind its last nested span
};

// The span in which each allocation and free happened, kNone for those in none. O(log n) and the depth there for each.
std::vector<SpanId> SpansOfAllocations(const Trace& trace, const InnermostSpans& innermost, ThreadTeam* team);

// O(n) in spans, O(log n) more per allocation. `chunk_size`: rows that a thread takes at a time, 0: as it should be.
SpanMeasures MeasureSpans(const Trace& trace, uint32_t max_threads = 0, size_t chunk_size = 0);

}  // namespace opscope
