// Sizes of live blocks: torch's CPU allocator says at a free which block it frees but not how large it is. The table
// remembers the size of each block that some window saw allocated, also for later windows.
//
// While no window looks, a block may be freed and its address allocated again with another size. Therefore the size of
// a block from an earlier window is checked: the C library's allocator returns the usable size of the block that
// is about to be freed (malloc_usable_size).
//
// The table has a fixed size and no locks. It drops blocks when a set is full; the free of a dropped block has no size.
//
// Thread rule: any thread, signal handlers too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

struct FreedBlock {
  uint64_t bytes = 0;  // 0: unknown
  // False: the block may have been reallocated unseen. `bytes` is then its usable size, the most that it can have; or
  // the remembered size where the allocator has no such function.
  bool is_sure = true;
};

// Allocates the table; without memory for it the sizes of frees are unknown. May throw std::bad_alloc.
void PrepareLiveBlocks();
// Call this when a window begins: sizes from earlier windows are checked from here on.
void BeginLiveBlockEpoch();
// bytes: not 0.
void AddLiveBlock(void* block, uint64_t bytes);
// Returns the size and removes the block. REQUIRES: the block is about to be freed.
FreedBlock TakeLiveBlock(void* block);

}  // namespace opscope
