// Pairs the allocations of one device with the frees that end them. A free ends the newest allocation of its address,
// so that a block whose free was not recorded does not take the free of the block that reuses its address.
//
// Thread rule: immutable after construction, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

class MemoryBlocks {
 public:
  // `rows`: the events of the device, rows of `allocations`, in their order. O(rows).
  MemoryBlocks(const Trace& trace, std::span<const uint32_t> rows);

  // The following REQUIRE that event `i` of `rows` is an allocation.
  // True if the first `events` events of `rows` include no free of it. REQUIRES: i < events.
  bool IsLiveAfter(uint32_t i, size_t events) const { return ends_[i] >= events; }

  // The event that frees it; kNever: none does.
  uint32_t EndOf(uint32_t i) const { return ends_[i]; }

  // The newest kept allocation of each address that has one; older ones follow by OlderKept.
  const std::vector<uint32_t>& newest_kept() const { return newest_kept_; }
  // The kept allocation of the same address before this one; kNever: none. REQUIRES: i is kept.
  uint32_t OlderKept(uint32_t i) const { return older_[i]; }

  static constexpr uint32_t kNever = 0xffffffff;

 private:
  std::vector<uint32_t> ends_;   // by event: the event that frees it
  std::vector<uint32_t> older_;  // by event: the allocation of its address that was the newest before it
  std::vector<uint32_t> newest_kept_;
};

}  // namespace opscope
