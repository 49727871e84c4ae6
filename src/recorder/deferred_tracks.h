// Tracks that take records after their window's close (TrackEnd::kAtRead): a source that holds finished records need
// not hand them over while the program waits for the end of its recording. Such a track is sealed as a thread is, but
// later: when its source closes it, at the window's first read, or when that is freed. The last of them ends the file.
//
// A track is deferred from its opening until it is sealed, or is closed before its window. registry.mutex guards both
// changes; the second one also needs the window's close mutex, so a holder of either may check for it.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recorder/registry.h"

namespace opscope {

// REQUIRES: the window is closed and not freed.
void SealDeferredTracks(Window* window);

// Seals one track that has no writer any more. Does nothing for other tracks.
void SealDeferredTrack(StreamState* state);

}  // namespace opscope
