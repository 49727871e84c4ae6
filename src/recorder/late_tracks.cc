// Seals tracks that outlive their window. Three events race for a track: its source closes it, the window
// is read, the window is freed. Each of them takes the window's edge mutex, and the first one seals
// the track; the others find is_late false. The lock order forbids taking that mutex under registry.mutex,
// so EndLateTrack looks up the slot under the one and rechecks under the other. Sealing the last
// track also finishes the mapped file.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/late_tracks.h"

#include "recorder/finish_file.h"
#include "recorder/seal.h"
#include "recorder/signals.h"

namespace opscope {
namespace {

// REQUIRES for all below: the window's edge mutex is held.
void NoteEnd(StreamState* state, Window* window) {
  const MutexLock lock(registry.mutex);
  state->is_late = false;
  window->late.fetch_sub(1);
}

void Seal(StreamState* state, Window* window) {
  {
    const MutexLock lock(registry.mutex);
    EndTaking(&state->stream);
  }
  SealStream(window, state, 0);  // a track has no open scopes that would reach to an end
  NoteEnd(state, window);
}

void FinishFileAfterLast(Window* window) {
  if (window->file != nullptr && window->late.load() == 0) FinishFile(window);
}

// The slot of its window, whose edge mutex comes before registry.mutex. kMaxWindows: it is no late track.
uint32_t SlotOfLate(StreamState* state) {
  const MutexLock lock(registry.mutex);
  return state->is_late ? state->stream.window->slot : kMaxWindows;
}

}  // namespace

void EndLateTracks(Window* window) {
  const SignalsBlocked blocked;
  // Lock even without such tracks: another thread may be about to end the file after the last one.
  const MutexLock edge(EdgeMutex(window->slot));
  if (window->late.load() == 0) return;
  for (StreamState* state : window->streams) {
    if (state->is_late) Seal(state, window);
  }
  FinishFileAfterLast(window);
}

void EndLateTrack(StreamState* state) {
  const uint32_t slot = SlotOfLate(state);
  if (slot == kMaxWindows) return;
  const MutexLock edge(EdgeMutex(slot));
  if (!state->is_late) return;  // sealed meanwhile, and the window may be gone
  Window* window = state->stream.window;
  if (!window->closed.load(std::memory_order_relaxed)) return NoteEnd(state, window);  // as other tracks, then
  Seal(state, window);
  FinishFileAfterLast(window);
}

}  // namespace opscope
