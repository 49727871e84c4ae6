// A direct-mapped cache keyed by address: of a call instruction, of a text, of a Python object. Each address maps to
// one entry; an address that finds another one in its entry replaces it.
//
//   struct Known {
//     const void* key = nullptr;
//     uint32_t name = 0;
//   };
//   AddressCache<Known, 8> cache;  // 256 entries
//   Known& entry = cache.EntryOf(key);
//   if (entry.key != key) entry = {key, Intern(key)};
//   Use(entry.name);
//
// A look-up is a multiplication, a shift and the caller's comparison, and touches one line of the processor's cache.
// std::unordered_map takes three times as many instructions for a hit and allocates for a miss, which a callback must
// not do. The price is that two addresses of one loop may share an entry and miss each time. Where that hurts, Entry is
// a small array that the caller searches, which makes the cache set-associative (src/sources/python/call_sites.h).
//
// The object contains its entries; it never constructs or destroys one alone. The caller decides what an entry holds
// and when it is out of date, and must be able to lose any entry.
//
// Tables that must not lose entries have their own code and share only HashWord (opscope/recorder_names.h):
// operator_signatures.cc uses open addressing; tensor_numbers.h and live_block_sizes.cc map neighbouring blocks to
// neighbouring sets.
//
// Thread rule: EntryOf only computes an address. Entries that several threads share must be atomic; if two threads
// write different keys to one entry, the caller must detect a key with the other thread's value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "opscope/recorder.h"

namespace opscope {

// REQUIRES: 1 <= kBits <= 32; there are two to the power of kBits entries.
template <typename Entry, uint32_t kBits>
class AddressCache {
 public:
  Entry& EntryOf(const void* address) { return entries_[HashWord(reinterpret_cast<uintptr_t>(address), kBits)]; }

  // All entries, to clear them.
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }

 private:
  std::array<Entry, size_t{1} << kBits> entries_{};
};

}  // namespace opscope
