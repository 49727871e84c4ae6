// Copies names and payloads ("entries") from one chunk to another: an open scope moves on
// with its thread's next chunk, a scope that ends on another thread goes into that thread's chunk, an
// unfinished one into the last chunk of its window. Payloads name other entries by offset (overload,
// keywords), so a copy is not a memcpy.
//
// Thread rule: pure functions over memory without concurrent writers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "opscope/record.h"
#include "recorder/growing_array.h"

namespace opscope {

// Bytes that offsets count in: a chunk, or a private copy of some entries of one.
struct EntrySpace {
  const char* base = nullptr;
  uint64_t size = 0;

  // Null, or "", if the offset is 0 or no whole entry can be there.
  const NameEntry* NameAt(uint32_t offset) const;
  std::string_view TextAt(uint32_t offset) const;
  const PayloadHeader* PayloadAt(uint32_t offset) const;
};

// All of a chunk. Null: empty, so every offset leads to nothing.
inline EntrySpace SpaceOf(const ChunkHeader* chunk) {
  return chunk == nullptr ? EntrySpace{} : EntrySpace{reinterpret_cast<const char*>(chunk), chunk->size};
}

// Destination of copies.
class EntrySink {
 public:
  // Offset of a name with this text, 0: no room.
  virtual uint32_t Intern(std::string_view text) = 0;
  // Reserves `bytes` bytes (a multiple of 8); returns their address and offset. Null: no room.
  virtual char* Reserve(uint32_t bytes, uint32_t* offset) = 0;

 protected:
  ~EntrySink() = default;
};

struct CopiedEntries {
  uint32_t name = 0;
  uint32_t payload = 0;
};

// Writes a NameEntry at `address`, which has NameEntryBytes(text.size()) bytes.
inline void StoreName(char* address, std::string_view text) {
  NameEntry entry;
  entry.size = static_cast<uint32_t>(text.size());
  std::memset(address + NameEntryBytes(text.size()) - 8, 0, 8);  // the NUL and what is left of the last word
  std::memcpy(address, &entry, sizeof(entry));
  if (!text.empty()) std::memcpy(address + sizeof(entry), text.data(), text.size());
}

// For CopyEntries: adds no thread.
inline constexpr uint32_t kNoThread = 0xffffffff;

// Upper bound of the room that CopyEntries needs.
uint64_t BytesOfEntries(const EntrySpace& from, uint32_t name, uint32_t payload);

// Lowest offset of the entries; without entries `otherwise`.
uint32_t LowestOffset(const EntrySpace& from, uint32_t name, uint32_t payload, uint32_t otherwise);

// Copies the name and the payload at these offsets, and what the payload refers to. start_thread other than kNoThread:
// adds payload_fields::kStartThread, in a new payload if the record has none. An offset that leads to no entry becomes 0.
CopiedEntries CopyEntries(const EntrySpace& from, uint32_t name, uint32_t payload, uint32_t start_thread,
                          EntrySink* to);

// Entries in memory of their own: a scope that ends on another thread is copied here under the lock of the one thread,
// and from here under that of the other.
class EntryScratch final : public EntrySink {
 public:
  uint32_t Intern(std::string_view text) override;
  char* Reserve(uint32_t bytes, uint32_t* offset) override;
  // Empties it and makes room for `bytes` bytes. Call it first: entries must not move while they are filled. False: an
  // allocation failed.
  [[nodiscard]] bool Prepare(uint64_t bytes);
  EntrySpace space() const { return {bytes_.begin(), bytes_.size()}; }

 private:
  GrowingArray<char> bytes_;
};

}  // namespace opscope
