// The open scopes of a stream whose chunk lies in a file, as a reader of the file finds them after the
// process was killed (opscope/record.h, OpenTable).
//
// Thread rule: the owner of the stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/recorder.h"

namespace opscope {

// Entries that the table behind the next chunk should have: half as many again as are needed now.
uint32_t DepthsToShow(const Stream* stream);

// The table of the chunk that the stream uses from now on. Null: that lies in memory.
void UseTable(Stream* stream, OpenTable* table);

// A scope that has gone on to this chunk with its thread; no reader looks at the table yet.
void NoteMovedScope(Stream* stream, const OpenScope* scope);

// Goes on to a chunk whose table has room for a scope at this depth (stream.cc).
void ShowDeeperScopes(Stream* stream, uint32_t depth);

}  // namespace opscope
