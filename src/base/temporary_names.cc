// A signal handler may not lock or allocate, so names lie in a fixed array of slots with an atomic state each:
//
//   free -> filling -> registered -> free       by threads, compare-and-swap
//                              \-> unlinking     by the handler, final
//
// A slot whose file the handler deletes is never filled again. Otherwise another thread could put the next name into it
// before the handler has read the old one, and the handler would delete the wrong file. Eight slots suffice, because a
// process rarely writes two files at once.
// SPDX-License-Identifier: Apache-2.0
#include "base/temporary_names.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

namespace opscope {
namespace {

enum class State : int { kFree, kFilling, kRegistered, kUnlinking };

struct Slot {
  std::atomic<State> state{State::kFree};
  char name[PATH_MAX];
};
Slot slots[8];

}  // namespace

int RegisterTemporary(const char* name) {
  const size_t size = std::strlen(name) + 1;
  if (size > PATH_MAX) return -1;
  for (Slot& slot : slots) {
    State free = State::kFree;
    if (!slot.state.compare_exchange_strong(free, State::kFilling, std::memory_order_acquire)) continue;
    std::memcpy(slot.name, name, size);
    slot.state.store(State::kRegistered, std::memory_order_release);
    return static_cast<int>(&slot - slots);
  }
  return -1;
}

void UnregisterTemporary(int slot) {
  if (slot < 0) return;
  State registered = State::kRegistered;
  slots[slot].state.compare_exchange_strong(registered, State::kFree, std::memory_order_release);
}

void UnlinkTemporaries() {
  const int error = errno;
  for (Slot& slot : slots) {
    State registered = State::kRegistered;
    if (slot.state.compare_exchange_strong(registered, State::kUnlinking, std::memory_order_acquire)) unlink(slot.name);
  }
  errno = error;
}

}  // namespace opscope
