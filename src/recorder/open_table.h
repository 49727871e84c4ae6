// The open scopes of a stream whose chunk lies in a file, as a reader of the file finds them after the
// process was killed (opscope/record.h, OpenTable).
//
// Thread rule: the owner of the stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/recorder.h"

namespace opscope {

// Capacity for the next chunk's table: half as many again as are needed now.
uint32_t NextCapacity(const Stream* stream);

// Sets the table of the stream's current chunk. Null: the chunk lies in memory.
void SetOpenTable(Stream* stream, OpenTable* table);

// Writes the entry of an open scope that moved to this chunk; the table has no readers yet.
void WriteMovedScope(Stream* stream, const OpenScope* scope);

// Takes a chunk whose table has room for a scope at this depth (stream.cc).
void GrowOpenTable(Stream* stream, uint32_t depth);

}  // namespace opscope
