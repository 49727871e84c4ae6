// Seals tracks that outlive their window. Three events race for a track: its source closes it, the window
// is read, the window is freed. Each of them takes the window's close mutex, and the first one seals
// the track; the others find is_deferred false. The lock order forbids taking that mutex under registry.mutex,
// so SealDeferredTrack looks up the slot under the one and rechecks under the other. Sealing the last
// track also finishes the mapped file.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/deferred_tracks.h"

#include "base/signals_blocked.h"
#include "recorder/finish_file.h"
#include "recorder/seal.h"

namespace opscope {
namespace {

// REQUIRES for all below: the window's close mutex is held.
void ClearDeferred(StreamState* state, Window* window) {
  const MutexLock lock(registry.mutex);
  state->is_deferred = false;
  window->deferred.fetch_sub(1);
}

void Seal(StreamState* state, Window* window) {
  {
    const MutexLock lock(registry.mutex);
    StopAccepting(&state->stream);
  }
  SealStream(window, state, 0);  // a track has no open scopes that would reach to an end
  ClearDeferred(state, window);
}

void FinishFileAfterLast(Window* window) {
  if (window->file != nullptr && window->deferred.load() == 0) FinishFile(window);
}

// The slot of its window, whose close mutex comes before registry.mutex. kMaxWindows: it is no deferred track.
uint32_t SlotOfDeferred(StreamState* state) {
  const MutexLock lock(registry.mutex);
  return state->is_deferred ? state->stream.window->slot : kMaxWindows;
}

}  // namespace

void SealDeferredTracks(Window* window) {
  const SignalsBlocked blocked;
  // Lock even without such tracks: another thread may be about to end the file after the last one.
  const MutexLock close_lock(CloseMutex(window->slot));
  if (window->deferred.load() == 0) return;
  for (StreamState* state : window->streams) {
    if (state->is_deferred) Seal(state, window);
  }
  FinishFileAfterLast(window);
}

void SealDeferredTrack(StreamState* state) {
  const uint32_t slot = SlotOfDeferred(state);
  if (slot == kMaxWindows) return;
  const MutexLock close_lock(CloseMutex(slot));
  if (!state->is_deferred) return;  // sealed meanwhile, and the window may be gone
  Window* window = state->stream.window;
  if (!window->closed.load(std::memory_order_relaxed)) return ClearDeferred(state, window);  // as other tracks, then
  Seal(state, window);
  FinishFileAfterLast(window);
}

}  // namespace opscope
