// Memory for the chunks of one window, under its policy at the cap: from the pool, or from the file that
// the window is recorded to, as long as that can take more.
//
// Thread rule: the owner of the stream, with the stream's mutex held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "recorder/registry.h"

namespace opscope {

// Size of a chunk without large contents. Under kKeepNewest the current chunks of all live threads take at most
// half of the cap, as long as they need not be smaller than a page: each thread has one, whatever the cap.
uint32_t DefaultChunkBytes(const Window* window);

// `depths`: entries that a table should have at least. No table: the chunk lies in memory. No chunk: at the
// cap, or memory is short.
RecordingFile::Unit TakeUnderCap(StreamState* state, Window* window, uint32_t size, uint32_t depths)
    OPSCOPE_REQUIRES(state->mutex);

// Gives up the oldest chunk of the stream. REQUIRES: there is one that is not the current one.
void EvictOldest(StreamState* state, Window* window) OPSCOPE_REQUIRES(state->mutex);

// The finished chunk once more, in the window's file. No chunk: the file can take no more. Any thread.
RecordingFile::Unit CopyToFile(Window* window, const ChunkHeader* chunk, uint64_t dropped);

// Back to where it came from. Any thread.
void ReleaseChunk(Window* window, ChunkHeader* chunk, uint32_t size);

}  // namespace opscope
