// The pool of chunks. The first touch of memory costs more than everything else in recording, so the pool is
// touched before the first window opens, and chunks of freed windows are kept for the next.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/mutex.h"
#include "opscope/record.h"

namespace opscope {

inline constexpr uint32_t kPooledChunks = 32;  // 8 MiB
inline constexpr uint32_t kReadyChunks = 8;
inline constexpr uint32_t kMinChunkBytes = 4096;

// Fills the pool at the first call of the process; later sees to it that kReadyChunks are there.
void PrefaultPool();

// Memory for a chunk of `size` bytes (a multiple of 4096), of any content, already resident. Null when
// memory is short.
ChunkHeader* TakeChunk(uint32_t size);

// One of kChunkBytes, for writers in the background: an empty pool is refilled from a huge page. The system clears that
// in a quarter of the time of as many small ones, but all at once, and may have to make it first by moving others,
// which can take milliseconds.
ChunkHeader* TakeChunkInBackground();

// Keeps up to kPooledChunks of kChunkBytes, and some that are a half of it, a quarter and so on; gives everything else
// back to the system.
void ReturnChunk(ChunkHeader* chunk, uint32_t size);

void UnmapMemory(void* address, uint64_t bytes);

// Gives the pages back and keeps the addresses: late writers find zeroes there.
void DiscardPages(void* address, uint64_t bytes);

// For fork: the pool's lock must not be held by a thread that the child does not have.
void LockPool() OPSCOPE_UNCHECKED_LOCKS;
void UnlockPool() OPSCOPE_UNCHECKED_LOCKS;

}  // namespace opscope
