// Texts that are numbered in the order in which they first come: the same text always has the same number.
//
// Thread rule: one thread at a time while it grows, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/arena.h"
#include "base/column.h"
#include "base/hash.h"

namespace opscope {

class UniqueTexts {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  static uint64_t HashOf(std::string_view text) { return HashBytes(std::as_bytes(std::span(text))); }

  // The text is copied when it is new.
  uint32_t Add(std::string_view text) { return Add(text, HashOf(text)); }
  uint32_t Add(std::string_view text, uint64_t hash) {
    const uint32_t found = FindOrReserve(text, hash);
    return found != kNone ? found : Append(arena_.Copy(text));
  }
  // REQUIRES: the bytes stay where they are
  uint32_t AddView(std::string_view text) {
    const uint32_t found = FindOrReserve(text, HashOf(text));
    return found != kNone ? found : Append(text);
  }

  uint32_t Find(std::string_view text) const {
    if (texts_.empty()) return kNone;
    const uint64_t hash = HashOf(text);
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const uint64_t slot = slots_[at];
      if (slot == 0) return kNone;
      if (IsAt(slot, text, hash)) return NumberOf(slot);
    }
  }

  std::string_view text(uint32_t number) const { return texts_[number]; }
  uint32_t size() const { return static_cast<uint32_t>(texts_.size()); }
  bool empty() const { return texts_.empty(); }
  size_t memory_bytes() const { return arena_.memory_bytes() + texts_.memory_bytes() + slots_.memory_bytes(); }

  // As if new, but for the memory of the table.
  void Clear() {
    if (texts_.empty()) return;
    arena_ = Arena();
    texts_.clear();
    std::memset(slots_.data(), 0, slots_.size() * sizeof(uint64_t));
  }

 private:
  // A slot holds the upper half of the hash and the number plus 1; 0: free.
  static uint32_t NumberOf(uint64_t slot) { return static_cast<uint32_t>(slot) - 1; }
  bool IsAt(uint64_t slot, std::string_view text, uint64_t hash) const {
    return (slot ^ hash) >> 32 == 0 && texts_[NumberOf(slot)] == text;
  }

  // kNone: the text is new, free_ is its slot.
  uint32_t FindOrReserve(std::string_view text, uint64_t hash) {
    if (texts_.size() * 4 >= slots_.size() * 3) Grow();
    size_t at = hash & mask_;
    while (slots_[at] != 0) {
      if (IsAt(slots_[at], text, hash)) return NumberOf(slots_[at]);
      at = (at + 1) & mask_;
    }
    free_ = at;
    free_hash_ = hash;
    return kNone;
  }
  uint32_t Append(std::string_view kept) {
    texts_.push_back(kept);
    slots_[free_] = (free_hash_ >> 32 << 32) | static_cast<uint32_t>(texts_.size());
    return static_cast<uint32_t>(texts_.size()) - 1;
  }

  void Grow() {
    const size_t count = slots_.size() < 64 ? 64 : slots_.size() * 2;
    slots_.clear();
    slots_.resize(count, 0);
    mask_ = count - 1;
    for (uint32_t number = 0; number < texts_.size(); ++number) {
      const uint64_t hash = HashOf(texts_[number]);
      size_t at = hash & mask_;
      while (slots_[at] != 0)
        at = (at + 1) & mask_;
      slots_[at] = (hash >> 32 << 32) | (number + 1);
    }
  }

  Arena arena_;
  Column<std::string_view> texts_;
  Column<uint64_t> slots_;
  size_t mask_ = 0;
  size_t free_ = 0;
  uint64_t free_hash_ = 0;
};

}  // namespace opscope
