// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/call_site_cache.h"

namespace opscope::asking_places {

constinit AddressCache<Place, 9> places{};

void NoteRange(const void* place, const void* of_operator) {
  const auto address = reinterpret_cast<uintptr_t>(place);
  Place& at = places.EntryOf(place);
  uint64_t known = at.known.load(std::memory_order_relaxed);
  if ((known & ~kAddress) == kOfNone) return;  // of another one, too: that must not be forgotten
  if ((known & kAddress) != address) {
    at.of_operator.store(of_operator, std::memory_order_relaxed);
    at.known.store(address | kOneRange, std::memory_order_relaxed);
  } else if (at.of_operator.load(std::memory_order_relaxed) != of_operator) {
    NoteNoRange(place);
  } else if (known < (address | kEnoughRanges)) {
    at.known.compare_exchange_strong(known, known + kOneRange, std::memory_order_relaxed);
  }
}

void NoteNoRange(const void* place) {
  const auto address = reinterpret_cast<uintptr_t>(place);
  places.EntryOf(place).known.store(address | kOfNone, std::memory_order_relaxed);
}

}  // namespace opscope::asking_places
