// Interns names into the current chunk, through the two caches of a Stream: part of
// recorder.h's hot path.
//
//   InternStable   text at a fixed address (literals, operator schemas): an equal address is a hit
//   InternText     any text: an equal address is a guess, a comparison of the bytes proves it
//   InternEntry    any text of known size, found by its content: for names built anew for each call
//
// A miss ends in opscope_intern_slow, which looks the text up in the chunk's own
// hash table.
//
//   const uint32_t name = InternStable(stream, "aten::add");   // offset for Record::name
//
// Cost of a hit: one multiplication, one load, and for texts a comparison. A name
// takes its bytes once per chunk.
//
// Thread rule: the functions act on the calling thread's own Stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "opscope/recorder_abi.h"

namespace opscope {

// A hash of `bits` bits, at most 64: the upper bits of a product with the golden ratio (Fibonacci hashing). Words that
// differ only in their lower bits, as addresses of one array do, get hashes that are far apart.
constexpr uint64_t HashWord(uint64_t word, uint32_t bits) {
  return word * 0x9e3779b97f4a7c15u >> (64 - bits);
}

// Cache entry in which to look first for a text at an address. Literals lie side by side without a gap, so
// the hash uses every bit.
inline NameCacheEntry* NameCacheSlot(NameCacheEntry* cache, const char* text) {
  return &cache[HashWord(reinterpret_cast<uintptr_t>(text), kNameCacheBits)];
}

// Miss: interns the text and puts it into `entry`. 0 at the cap.
__attribute__((noinline, cold)) inline uint32_t InternAndCache(Stream* stream, const char* text, uint64_t size,
                                                               NameCacheEntry* entry) {
  const uint32_t offset = opscope_intern_slow(stream, text, size);
  if (offset != 0) *entry = {text, offset, 0};
  return offset;
}

// Offset of the name in the current chunk, 0 at the cap. REQUIRES: the address
// names the same bytes for as long as the process lives, or opscope_module_unloads is
// called before they go.
inline uint32_t InternStable(Stream* stream, const char* text) {
  NameCacheEntry* entry = NameCacheSlot(stream->stable_names, text);
  if (OPSCOPE_LIKELY(entry->text == text)) return entry->offset;
  return InternAndCache(stream, text, std::strlen(text), entry);
}

// The same for text that may be gone or changed after the call: the chunk gets a copy, and a hit compares
// it with the text.
inline uint32_t InternText(Stream* stream, const char* text) {
  NameCacheEntry* entry = NameCacheSlot(stream->copied_names, text);
  if (OPSCOPE_LIKELY(entry->text == text)) {
    const char* known = reinterpret_cast<const char*>(stream->chunk) + entry->offset + sizeof(NameEntry);
    if (OPSCOPE_LIKELY(std::strcmp(known, text) == 0)) return entry->offset;
  }
  return InternAndCache(stream, text, std::strlen(text), entry);
}

// Eight bytes at any address; compiles to one load.
inline uint64_t LoadWord(const char* address) {
  uint64_t word;
  std::memcpy(&word, address, sizeof(word));
  return word;
}

// All bytes of a text shorter than 8 in one integer. Different texts of one size
// give different values.
inline uint64_t LoadShort(const char* text, uint64_t size) {
  if (size >= 4) {
    uint32_t first;
    uint32_t last;
    std::memcpy(&first, text, sizeof(first));
    std::memcpy(&last, text + size - 4, sizeof(last));
    return uint64_t{first} << 32 | last;
  }
  uint64_t word = 0;
  for (uint64_t i = 0; i < size; ++i)
    word = word << 8 | static_cast<unsigned char>(text[i]);
  return word;
}

// memcmp for short texts. std::memcmp is a function call if the size is not
// constant, and a loop whose number of turns varies costs a branch misprediction,
// so sizes up to 16 have no loop.
inline bool SameBytes(const char* a, const char* b, uint64_t size) {
  // Sizes 8 to 16 need the first and the last 8 bytes, which may overlap. Sizes up
  // to 32 need two more pairs. Only longer names reach the loop.
  if (size < 8) return LoadShort(a, size) == LoadShort(b, size);
  const char *end_of_a = a + size, *end_of_b = b + size;
  uint64_t difference = (LoadWord(a) ^ LoadWord(b)) | (LoadWord(end_of_a - 8) ^ LoadWord(end_of_b - 8));
  if (size <= 16) return difference == 0;
  difference |= (LoadWord(a + 8) ^ LoadWord(b + 8)) | (LoadWord(end_of_a - 16) ^ LoadWord(end_of_b - 16));
  for (uint64_t at = 16; at + 16 < size; at += 8)
    difference |= LoadWord(a + at) ^ LoadWord(b + at);
  return difference == 0;
}

// Cache entry for a content. The hash takes the last bytes and some of the middle,
// because names of one kind begin alike ("aten::...").
inline NameCacheEntry* NameCacheSlot(NameCacheEntry* cache, const char* text, uint64_t size) {
  // The multiplication spreads the bits; the highest ones are the index.
  uint64_t bits = size << 48;
  if (size >= 8) {
    bits ^= LoadWord(text + size - 8) ^ LoadWord(text + (size - 8) / 2) * 0xff51afd7ed558ccdu;
  } else {
    bits ^= LoadShort(text, size);
  }
  return &cache[HashWord(bits, kNameCacheBits)];
}

// True if the entry holds this text.
inline bool IsName(const Stream* stream, const NameCacheEntry* entry, const char* text, uint64_t size) {
  if (OPSCOPE_UNLIKELY(entry->offset == 0)) return false;
  const char* known = reinterpret_cast<const char*>(stream->chunk) + entry->offset;
  uint32_t known_size;
  std::memcpy(&known_size, known + offsetof(NameEntry, size), sizeof(known_size));
  return known_size == size && SameBytes(known + sizeof(NameEntry), text, size);
}

// Tries the second entry of a text, then interns it. Out of line to keep the fast
// path small.
__attribute__((noinline)) inline NameCacheEntry* InternInSecondWay(NameCacheEntry* entry, Stream* stream,
                                                                   const char* text, uint64_t size) {
  // An empty first entry is used without a look at the second.
  if (entry->offset != 0) {
    entry = stream->copied_names + ((entry - stream->copied_names) ^ 1);
    if (IsName(stream, entry, text, size)) return entry;
  }
  return InternAndCache(stream, text, size, entry) != 0 ? entry : nullptr;
}
// Both entries of a text, the usual one first. Null at the cap.
inline NameCacheEntry* InternEntryIn(NameCacheEntry* entry, Stream* stream, const char* text, uint64_t size) {
  if (OPSCOPE_LIKELY(IsName(stream, entry, text, size))) return entry;
  return InternInSecondWay(entry, stream, text, size);
}

// Interns a text of known size. The hash depends on the text and not on its
// address, because frameworks build some names anew for every call. A text has two
// possible entries (2-way associative): two names of one loop that shared a single
// entry would evict each other forever. Null at the cap; the entry is valid until
// the next chunk.
inline NameCacheEntry* InternEntry(Stream* stream, const char* text, uint64_t size) {
  return InternEntryIn(NameCacheSlot(stream->copied_names, text, size), stream, text, size);
}
// For texts that mostly keep their address, such as operator names: the cache entry
// follows from the address before the text is loaded, and the text only proves the
// hit.
inline NameCacheEntry* InternEntryAt(Stream* stream, const char* text, uint64_t size) {
  return InternEntryIn(NameCacheSlot(stream->copied_names, text), stream, text, size);
}
// Offset of a name of known size, which need not end with a NUL; 0 at the cap.
inline uint32_t InternText(Stream* stream, const char* text, uint64_t size) {
  const NameCacheEntry* entry = InternEntry(stream, text, size);
  return OPSCOPE_LIKELY(entry != nullptr) ? entry->offset : 0;
}

}  // namespace opscope
