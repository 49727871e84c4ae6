// A signal handler may not lock or allocate, so names lie in a fixed array of slots with an atomic state
// each:
//
//   free -> filling -> noted -> free            written by threads, compare-and-swap
//                          \-> unlinking        by the handler, final
//
// A name that the handler unlinks is never reused, so the handler cannot unlink a file that another thread
// has just created. Eight slots suffice: a process rarely writes two files at once.
// SPDX-License-Identifier: Apache-2.0
#include "base/temporary_names.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

namespace opscope {
namespace {

enum class State : int { kFree, kFilling, kNoted, kUnlinking };

// A handler may run while another thread forgets a name and notes the next: a place that is being unlinked is never
// filled again.
struct Place {
  std::atomic<State> state{State::kFree};
  char name[PATH_MAX];
};
Place places[8];  // a process rarely writes two files at once

}  // namespace

int RegisterTemporary(const char* name) {
  const size_t size = std::strlen(name) + 1;
  if (size > PATH_MAX) return -1;
  for (Place& place : places) {
    State free = State::kFree;
    if (!place.state.compare_exchange_strong(free, State::kFilling, std::memory_order_acquire)) continue;
    std::memcpy(place.name, name, size);
    place.state.store(State::kNoted, std::memory_order_release);
    return static_cast<int>(&place - places);
  }
  return -1;
}

void UnregisterTemporary(int place) {
  if (place < 0) return;
  State noted = State::kNoted;
  places[place].state.compare_exchange_strong(noted, State::kFree, std::memory_order_release);
}

void UnlinkTemporaries() {
  const int error = errno;
  for (Place& place : places) {
    State noted = State::kNoted;
    if (place.state.compare_exchange_strong(noted, State::kUnlinking, std::memory_order_acquire)) unlink(place.name);
  }
  errno = error;
}

}  // namespace opscope
