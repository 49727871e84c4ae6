// Which instants stand for allocations: these are rows of both tables, and a file has them once.
//
// Thread rule: immutable after construction, any thread.
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

}  // namespace opscope
