// Sizes of live blocks. When torch's CPU allocator frees a block, it reports its address but not its size. So a table
// has the size of each block that was allocated during a window, also for later windows.
//
// Between two windows a block may be freed and its address allocated again with another size. Therefore the size of a
// block from an earlier window is checked against malloc_usable_size, which returns the usable size of the block that
// is about to be freed.
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
  // False: the block may have been reallocated between windows. Then `bytes` is its usable size, an upper bound; or the
  // size in the table if the allocator has no such function.
  bool is_sure = true;
};

// Allocates the table; if that fails, the sizes of frees are unknown. May throw std::bad_alloc.
void PrepareLiveBlocks();
// Call this when a window begins: from now on sizes from earlier windows are checked.
void BeginLiveBlockEpoch();
// bytes: not 0.
void AddLiveBlock(void* block, uint64_t bytes);
// Returns the size and removes the block. REQUIRES: the block is about to be freed.
FreedBlock TakeLiveBlock(void* block);

}  // namespace opscope
