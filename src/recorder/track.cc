// Tracks: streams for records that are finished when they arrive. A Thread without a thread owns each of
// them, so the cap, dumps, mapped files and the close need no code for tracks.
// SPDX-License-Identifier: Apache-2.0
#include "base/signals_blocked.h"
#include "recorder/deferred_tracks.h"
#include "recorder/registry.h"

using opscope::Stream;
using opscope::Window;

Stream* opscope_track_open(Window* window, const opscope::TrackOptions* options) {
  const opscope::SignalsBlocked blocked;
  Stream* stream = nullptr;
  {
    const opscope::MutexLock lock(opscope::registry.mutex);
    const bool is_open = !window->detached && opscope_window_generation[window->slot].load() == window->generation;
    opscope::ThreadState* owner = is_open ? opscope::NewThread(options->os_thread) : nullptr;
    if (owner == nullptr) return nullptr;
    owner->is_track = true;
    if (options->clock == opscope::TrackClock::kUnixNs) owner->chunk_layout |= opscope::kUnixTimes;
    if (options->name != nullptr) opscope::CopyThreadName(owner->name, options->name);
    opscope::StreamState* state = opscope::AttachLocked(&owner->thread, window, options->logical_thread);
    if (state == nullptr) {
      opscope::RetireThread(owner);
      return nullptr;
    }
    if (options->end == opscope::TrackEnd::kAtRead) {
      state->is_deferred = true;
      window->deferred.fetch_add(1);
    }
    stream = &state->stream;
  }
  opscope_make_room(stream, 0);  // at the cap there is none, and what is appended is counted as dropped
  return stream;
}

void opscope_track_close(Stream* stream) {
  const opscope::SignalsBlocked blocked;
  opscope::SealDeferredTrack(opscope::StateOf(stream));
  const opscope::MutexLock lock(opscope::registry.mutex);
  opscope::RetireThread(opscope::StateOf(stream->thread));
}
