// Which instructions of torch ask for the callbacks of one operator alone, and always begin its range then. Past the
// memory cap such an operator needs no range: it is counted where it asks. An operator that torch lets nobody observe
// asks as well, though no range follows, and is not to be counted; but each operator is called through a function of
// its own, so the place tells them apart. Places that ask for any operator, as that of boxed calls, are none of these.
//
// A place is one of them after a few ranges in turn that were of one operator, and is none for ever once another
// operator or no range came. From time to time it is asked again (capture_mode.cc), should the first few have been
// chance: until then kAskedAgain operators of each thread that nobody could have observed may be counted.
//
// Thread rule: any thread. No lock: where two threads meet, a place may be learnt later or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "sources/streams/address_cache.h"

namespace opscope::asking_places {

struct Place {
  std::atomic<uint64_t> known{0};                 // address, and in the highest byte how many ranges were seen
  std::atomic<const void*> of_operator{nullptr};  // its schema
};
inline constexpr uint64_t kOneRange = uint64_t{1} << 56;  // addresses of programs end below
inline constexpr uint64_t kEnoughRanges = 4 * kOneRange, kOfNone = 255 * kOneRange;
inline constexpr uint64_t kAddress = kOneRange - 1;

// An operator that is counted without a range is asked about each so many times of a thread; prime, so that no loop of
// a few operators meets the same one each time.
inline constexpr uint32_t kAskedAgain = 61;

// 512 entries: programs call some hundred operators.
extern AddressCache<Place, 9> places __attribute__((visibility("hidden")));

// Whether the operator that asks there will surely begin a range.
inline bool IsOfOneOperator(const void* place) {
  const auto address = reinterpret_cast<uintptr_t>(place);
  return places.EntryOf(place).known.load(std::memory_order_relaxed) == (address | kEnoughRanges);
}

// The place has asked, and then a range of this operator has begun, or none.
void NoteRange(const void* place, const void* of_operator);
void NoteNoRange(const void* place);

}  // namespace opscope::asking_places
