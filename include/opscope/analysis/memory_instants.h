// Instants that tell of memory: those that stand for allocations, which are rows of both tables, and a file has them
// once; and those of requests that an allocator had no memory for.
//
// Thread rule: immutable after construction, any thread; the functions are pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

class MemoryInstants {
 public:
  explicit MemoryInstants(const Trace& trace);

  const std::vector<uint32_t>& others() const { return others_; }  // rows of instants, without memory
  // The instant that stands for allocation `row`, which may hold extra members; or UINT32_MAX.
  uint32_t OfAllocation(size_t row) const { return row < of_allocation_.size() ? of_allocation_[row] : UINT32_MAX; }

 private:
  std::vector<uint32_t> others_, of_allocation_;
};

// Torch's "[OutOfMemory]". Numbers as in AllocationColumns; 0 where the instant says nothing.
struct OutOfMemory {
  uint32_t instant = 0;  // its row of instants()
  int64_t bytes = 0;     // that were asked for
  int32_t device_type = 0, device = -1;
};
[[nodiscard]] OutOfMemory ReadOutOfMemory(const Trace& trace, uint32_t instant);
// In the order of the instants. O(instants).
[[nodiscard]] std::vector<OutOfMemory> FindOutOfMemory(const Trace& trace);

}  // namespace opscope
