// The list of open scopes of one thread, read by another one while the owner may be writing.
//
// Thread rule: any thread, with the stream's mutex held, so that the owner does not go on to another chunk.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "recorder/growing_array.h"
#include "recorder/registry.h"

namespace opscope {

struct OpenScopeCopy {
  uint64_t start;
  uint32_t name;
  uint32_t payload;
  uint32_t depth_kind_flags;
  uint32_t origin;
};
using OpenScopeCopies = GrowingArray<OpenScopeCopy>;  // innermost first

// For a stream with generation 0: its thread only finishes the event that it is in, so the list is stable after
// a try or two. False: it did not become stable, or an allocation failed.
bool ListOpenScopes(const Stream& stream, uint64_t generation, OpenScopeCopies* copies);

// For a stream whose thread goes on. The list has all scopes that began before `until` and stay open through
// the whole call; it may have scopes that end meanwhile. REQUIRES: `until` was read before the call.
bool ListOpenScopesWhileRunning(const Stream& stream, uint64_t generation, uint64_t until, OpenScopeCopies* copies);

// Removes the scopes whose records are among [before, after) of the chunk.
void RemoveFinished(OpenScopeCopies* copies, const ChunkHeader* chunk, uint32_t before, uint32_t after);

// Scopes that began at the cap have no name to be shown by; they count as dropped.
void RemoveNameless(OpenScopeCopies* copies);

}  // namespace opscope
