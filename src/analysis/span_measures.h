// Per-span measures: self time, device time that it launched, memory that it allocated.
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

// One entry per span, in ns or bytes. A vector is empty if the Trace has no such data.
struct SpanMeasures {
  std::vector<int64_t> self_ns;            // duration without direct children, each clipped to its parent
  std::vector<int64_t> device_total_ns;    // host: launched by it and its descendants; device: its duration
  std::vector<int64_t> device_self_ns;     // host: launched by it directly; device: its self time
  std::vector<int64_t> self_memory_bytes;  // allocated minus freed while it was innermost on its thread
};

// Finds the innermost nested span of a track at a time. Async spans do not count.
class InnermostSpans {
 public:
  explicit InnermostSpans(const Trace& trace);  // O(n)
  // `ends`: end of each span, clipped to its parent's; must outlive this object.
  InnermostSpans(const Trace& trace, std::span<const int64_t> ends);
  // The row of the span, -1 if no span contains the time. O(log n): the search starts at the last span that begins
  // before `time` and climbs to the first ancestor that has not ended, in deep nests by skipping ancestors.
  int64_t At(uint32_t track, Timestamp time) const;

 private:
  void FindFarAncestors();

  const Trace& trace_;
  std::vector<int64_t> own_ends_;     // used if the caller gave no ends
  std::span<const int64_t> ends_;     // clipped to the parent's
  std::vector<uint32_t> nested_end_;  // by track: one past its last nested span
  std::vector<SpanId> far_ancestor_;  // by span; empty if no span is deep
};

// The innermost span around each allocation and free; kNone if none. O(log n) each.
std::vector<SpanId> SpansOfAllocations(const Trace& trace, const InnermostSpans& innermost, ThreadTeam* team);

// O(spans + allocations * log spans). `chunk_size`: rows per chunk, for tests; 0: the default.
SpanMeasures MeasureSpans(const Trace& trace, uint32_t max_threads = 0, size_t chunk_size = 0);

}  // namespace opscope
