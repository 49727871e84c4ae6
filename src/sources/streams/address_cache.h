// A direct-mapped cache of what is known of an address: an instruction that calls, a text, an object of Python. Each
// address has one entry that it may lie in; an address that meets another one there takes its place.
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
// a small array, and the caller searches it: the cache is set-associative then (src/sources/python/call_sites.h).
//
// Entries are never constructed or destroyed apart: they lie in the object. What an entry holds, whether it still is
// true, and what is lost with it are the caller's business.
//
// Not for tables that must not forget: operator_signatures.cc probes on, tensor_numbers.h and live_block_sizes.cc have
// sets whose place follows from where blocks lie. These share HashWord (opscope/recorder_names.h).
//
// Thread rule: EntryOf only computes a place. Entries that several threads share are atomics of the caller; where two
// threads write different addresses to one entry, the caller's key and value must not be mixed up.
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
