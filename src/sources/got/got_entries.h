// The slots through which a loaded library calls the functions of others (or its own, where they may be
// replaced): the linker's table of addresses. To re-point one is to stand in front of that function for
// the calls of that one library, without LD_PRELOAD and without a change of its code.
//
// Thread rule: any thread; a call that is under way meanwhile reaches either the old or the new target. Writers hold
// SlotLock(): two that change the rights of one page in turns would leave the second without the right to write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/mutex.h"

namespace opscope {

struct CallSlot {
  void** place = nullptr;
  bool is_protected = false;  // lies in pages that the linker has made read-only
  size_t symbol = 0;          // which of those that were asked for
};

// Slots of the symbols in the libraries whose file name begins with `library` ("libc10.so"; "": in all that are
// loaded). Empty when it is not loaded, or calls them otherwise. May throw std::bad_alloc.
std::vector<CallSlot> FindCallSlots(const char* library, std::span<const char* const> symbols);
inline std::vector<CallSlot> FindCallSlots(const char* library, const char* symbol) {
  return FindCallSlots(library, {&symbol, 1});
}

using ProtectPages = int (*)(void* pages, size_t bytes, int rights);

// False: the page cannot be written. The page has the rights of before afterwards. REQUIRES: SlotLock() is held.
bool PointCallSlot(const CallSlot& slot, void* target, ProtectPages protect = &mprotect);

// One for all slots of the process that this library writes, and for what decides about them.
Mutex& SlotLock();
// Calls `in_child` in the child of each fork, with the lock held. For constructors of libraries.
void WatchForksOfSlots(void (*in_child)());

struct Segment {
  uintptr_t begin = 0, end = 0;
  bool is_writable = false;  // without what the linker has made read-only
};
// What the libraries whose file name begins with `library` take up. May throw std::bad_alloc.
std::vector<Segment> SegmentsOf(const char* library);
// The one that the address lies in, null: none.
const Segment* SegmentAround(const void* address, const std::vector<Segment>& segments);

}  // namespace opscope
