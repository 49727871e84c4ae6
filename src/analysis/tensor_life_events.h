// When tensors take and release memory, where a trace has their lives instead of allocations (MegEngine).
//
// Thread rule: pure functions of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "opscope/analysis/memory_usage.h"
#include "opscope/trace.h"

namespace opscope {

// The begin or the end of a tensor's life.
struct TensorLifeEvent {
  int64_t time_ns = 0;
  uint32_t row = 0;  // of `tensor_lives`
  bool is_end = false;
  // Change of the memory that tensors cover: 0 if other tensors cover all of this one's.
  int64_t bytes = 0;
};

// The events of these lives in order of time; of equal time the begins come first. A tensor without bytes has no event.
// O(n log n).
[[nodiscard]] std::vector<TensorLifeEvent> TensorLifeEvents(const Trace& trace, std::span<const uint32_t> rows);

// A tensor, and the bytes of its memory that no tensor before it covers.
struct CoveredByTensor {
  uint32_t row = 0;  // of `tensor_lives`
  int64_t bytes = 0;
};
// The tensors that live after these events, by begin. O(n log n).
[[nodiscard]] std::vector<CoveredByTensor> TensorsAfter(const Trace& trace, std::span<const TensorLifeEvent> events);

// Rows of `tensor_lives` by rank and row of their stream in `tracks`; Row(TrackId::kNone): no stream.
using LivesByStream = std::map<std::pair<int32_t, uint32_t>, std::vector<uint32_t>>;
[[nodiscard]] LivesByStream TensorLivesByStream(const Trace& trace);

// The device of a stream, by the name that MegEngine gives it ("gpu0:0"): type 1 for a GPU, else 0.
[[nodiscard]] MemoryPlace PlaceOfStream(const Trace& trace, TrackId stream);

}  // namespace opscope
