// Sizes of the blocks that some window saw the CPU's allocator give out and nobody has seen freed since: so a later
// window knows what a free gives back. What is freed, and given out again, while no window looks leaves the size of
// another block behind; hence the allocator is asked how large the block is that is about to be freed.
//
// A table of fixed size without locks. What finds no place in it is forgotten, which makes its free one of unknown
// size.
//
// Thread rule: any thread, signal handlers too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

struct FreedBlock {
  uint64_t bytes = 0;  // 0: no window saw it given out
  // False: it may be another block by now. `bytes` is the most that it can have been, or, where the allocator cannot be
  // asked, what was remembered.
  bool is_sure = true;
};

// From the first call on blocks are remembered, if there is memory for the table. May throw std::bad_alloc.
void PrepareRememberedBlocks();
// A window begins to look: what it sees freed and did not see given out is checked.
void BeginRemembering();
// bytes: not 0.
void RememberBlock(void* block, uint64_t bytes);
// Forgets it. REQUIRES: the block is about to be freed.
FreedBlock TakeRememberedBlock(void* block);

}  // namespace opscope
