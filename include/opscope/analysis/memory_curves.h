// The memory of each device over time, as a whole and by what it is used for: step
// functions to draw.
//
//   for (const MemoryCurve& curve : MeasureMemoryCurves(trace))
//     Draw(curve.category, curve.times_ns, curve.bytes);
//
// Thread rule: pure function of an immutable Trace; the result is a plain value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "opscope/analysis/memory_usage.h"
#include "opscope/trace.h"

namespace opscope {

struct MemoryTimeline;  // opscope/torch/memory_timeline.h

// One device, or one category of a device.
struct MemoryCurve {
  MemoryPlace place;
  // Of tensor lives the stream of the device, which names it; else kNone.
  TrackId track = TrackId::kNone;
  // "PARAMETER", "GRADIENT", ...: MemoryCategoryName. "": all memory of the device, the
  // level that MeasureMemoryUsage measures.
  std::string_view category;
  // Ascending, in nanoseconds since the trace's epoch.
  std::vector<int64_t> times_ns;
  // From the time of the same index until the next one.
  std::vector<int64_t> bytes;
};

// By device; the level of a device comes before its categories. Categories are there if the
// input says what operators write, and if no device belongs to several ranks. A category
// that never holds memory has no curve. O(n log n) in allocations, and the cost of
// BuildMemoryTimeline. Where the trace has `tensor_lives` instead of `allocations`
// (MegEngine), a curve for each stream has the bytes of the tensors that live; addresses that
// several of them cover count once.
[[nodiscard]] std::vector<MemoryCurve> MeasureMemoryCurves(const Trace& trace);
// The same from the trace's BuildMemoryTimeline, for callers that have it.
[[nodiscard]] std::vector<MemoryCurve> MeasureMemoryCurves(const Trace& trace, const MemoryTimeline& timeline);

}  // namespace opscope
