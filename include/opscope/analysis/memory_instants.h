// Matches instants that stand for allocations. An input's memory events are rows of
// both tables, `instants` and `allocations`; an exporter must write each event
// once.
//
//   const MemoryInstants memory(trace);
//   for (const uint32_t row : memory.others()) WriteInstant(row);
//
// Thread rule: immutable after construction, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// Index from allocations to instants and back.
class MemoryInstants {
 public:
  // O(instants + allocations).
  explicit MemoryInstants(const Trace& trace);

  // Rows of instants that stand for no allocation.
  const std::vector<uint32_t>& others() const { return others_; }
  // The instant that stands for allocation `row`, which may hold extra members;
  // UINT32_MAX: none.
  uint32_t OfAllocation(size_t row) const { return row < of_allocation_.size() ? of_allocation_[row] : UINT32_MAX; }

 private:
  std::vector<uint32_t> others_, of_allocation_;
};

}  // namespace opscope
