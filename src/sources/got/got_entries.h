// GOT entries: the addresses through which a loaded library calls functions of other libraries (or its own, where they
// may be interposed). The dynamic linker fills this global offset table. Writing an entry puts a hook in front of one
// function for the calls of one library, without LD_PRELOAD and without changing its code.
//
//   for (const GotEntry& entry : FindGotEntries("libc10.so", "malloc")) WriteGotEntry(entry, &OnMalloc);
//
// Thread rule: any thread; a concurrent call reaches either the old or the new target. Writers hold GotLock(): one of
// two writers that change the protection of the same page could make it read-only before the other has written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/mutex.h"

namespace opscope {

struct GotEntry {
  void** address = nullptr;
  bool is_protected = false;  // in pages that the linker made read-only after relocation (RELRO)
  size_t symbol = 0;          // index into the symbols of FindGotEntries
};

// The entries for these symbols in the loaded libraries whose file name begins with `library` ("libc10.so"; "": all).
// Empty if no such library is loaded, or if it does not call these functions through its GOT. May throw std::bad_alloc.
std::vector<GotEntry> FindGotEntries(const char* library, std::span<const char* const> symbols);
inline std::vector<GotEntry> FindGotEntries(const char* library, const char* symbol) {
  return FindGotEntries(library, {&symbol, 1});
}

using ProtectPages = int (*)(void* pages, size_t bytes, int rights);

// Writes the entry and restores the protection of its page. False: the page cannot be made writable. `protect`: a test
// passes one that fails. REQUIRES: GotLock() is held.
bool WriteGotEntry(const GotEntry& entry, void* target, ProtectPages protect = &mprotect);

// Guards all entries that this library writes, and the state that decides which hooks are installed.
Mutex& GotLock();
// Calls `in_child` in the child of every fork, with the lock held. For static initialisers; at most eight callers.
void CallInForkedChild(void (*in_child)());

struct Segment {
  uintptr_t begin = 0, end = 0;
  bool is_writable = false;  // false for RELRO pages, too
  bool Contains(const void* address) const {
    return reinterpret_cast<uintptr_t>(address) >= begin && reinterpret_cast<uintptr_t>(address) < end;
  }
};
// The mapped segments of the loaded libraries whose file name begins with `library`. May throw std::bad_alloc.
std::vector<Segment> SegmentsOf(const char* library);
// Adds the segment, split where its RELRO pages end. GNU ld puts RELRO at the begin of the writable segment, lld and
// mold into a segment of its own.
void AppendParts(Segment segment, const Segment& relro, std::vector<Segment>* parts);
// The segment that contains the address; null: none.
const Segment* FindSegment(const void* address, const std::vector<Segment>& segments);

}  // namespace opscope
