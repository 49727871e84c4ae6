// Open scopes as kUnfinished records: behind the last records of a thread, or in a chunk of their own
// after them. The close of a window writes them into the recording, a dump into its copy.
//
// Thread rule: pure functions over memory without other writers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "recorder/open_scopes.h"
#include "wire/block_header.h"

namespace opscope {

// Header of a chunk that stands for, or follows, `from`; with no records yet.
void CopyHeader(const ChunkHeader& from, ChunkHeader* to);

// Lowest byte of the chunk that the published records and these scopes use.
uint32_t LowestByteOf(const OpenScopeCopies& copies, const ChunkHeader* chunk, uint32_t published);

// Behind the records of `chunk`, in which their names and payloads lie already. False: no room.
[[nodiscard]] bool AppendUnfinished(ChunkHeader* chunk, const OpenScopeCopies& copies, uint64_t end_ticks);

// A chunk of their own, to stand after `last`: the size it needs, and what is in it.
inline constexpr uint64_t kMaxUnfinishedChunkBytes = kMaxBlockBytes;  // recordings hold it as a block
uint64_t UnfinishedChunkBytes(const ChunkHeader* last, const OpenScopeCopies& copies);
void FillUnfinishedChunk(const ChunkHeader* last, const OpenScopeCopies& copies, uint64_t end_ticks, uint32_t size,
                         ChunkHeader* chunk);

}  // namespace opscope
