// An open-addressing hash table of 8-byte entries (hash and offset), at most three quarters full. It needs
// no copy of a text, because the chunk has it: equal hashes are proved by comparing with the NameEntry at
// the offset. std::unordered_map would allocate per name, and the recorder must not call malloc on a path
// that a signal handler can reach.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/name_table.h"

#include <cstring>

#include "opscope/record.h"

namespace opscope {

uint32_t NameTable::Hash(std::string_view text) {
  uint64_t hash = text.size() * 0x9e3779b97f4a7c15u;
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  uint64_t word = 0;
  if (left != 0) std::memcpy(&word, at, left);
  hash = (hash ^ word) * 0xc4ceb9fe1a85ec53u;
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

uint32_t NameTable::Find(const char* base, std::string_view text) const {
  if (entries_.empty()) return 0;
  const uint32_t hash = Hash(text);
  const size_t mask = entries_.size() - 1;
  for (size_t i = hash & mask; entries_[i].offset != 0; i = (i + 1) & mask) {
    if (entries_[i].hash != hash) continue;
    const auto* name = reinterpret_cast<const NameEntry*>(base + entries_[i].offset);
    if (name->size == text.size() && std::memcmp(name + 1, text.data(), text.size()) == 0) return entries_[i].offset;
  }
  return 0;
}

void NameTable::Place(Entry entry) {
  const size_t mask = entries_.size() - 1;
  size_t i = entry.hash & mask;
  while (entries_[i].offset != 0)
    i = (i + 1) & mask;
  entries_[i] = entry;
}

bool NameTable::Grow() {
  GrowingArray<Entry> old;
  if (!old.Append(entries_.begin(), entries_.size())) return false;
  const size_t size = entries_.empty() ? 256 : entries_.size() * 2;
  if (!entries_.Reserve(size)) return false;
  entries_.SetSize(size);
  std::memset(static_cast<void*>(entries_.begin()), 0, size * sizeof(Entry));
  for (const Entry& entry : old) {
    if (entry.offset != 0) Place(entry);
  }
  return true;
}

void NameTable::Insert(std::string_view text, uint32_t offset) {
  if (uint64_t{used_} * 4 >= uint64_t{entries_.size()} * 3 && !Grow()) return;
  Place({Hash(text), offset});
  ++used_;
}

void NameTable::Clear() {
  if (used_ == 0) return;
  std::memset(static_cast<void*>(entries_.begin()), 0, entries_.size() * sizeof(Entry));
  used_ = 0;
}

void NameTable::Free() {
  entries_.Free();
  used_ = 0;
}

}  // namespace opscope
