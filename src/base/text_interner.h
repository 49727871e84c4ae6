// Numbers distinct texts in the order in which they first appear (an interner): the same text always gets
// the same number.
//
//   TextInterner names;
//   names.Add("aten::mm");    // 0
//   names.Add("aten::add");   // 1
//   names.Add("aten::mm");    // 0
//
// An open-addressing table of 8-byte slots, each with 32 bits of the hash (the tag) and the number. The high bits of
// the tag choose a text's first slot, so growing the table reads no text and writes the larger table from begin to end.
// A lookup compares a text only if the tags agree.
//
// Thread rule: one thread at a time while it grows, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/column.h"
#include "base/hash.h"

namespace opscope {

// Texts for AddAll, each with its tag.
struct TaggedTexts {
  std::span<const std::string_view> texts;
  std::span<const uint32_t> tags;
};

class TextInterner {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  static uint64_t HashOf(std::string_view text) { return HashBytes(std::as_bytes(std::span(text))); }
  // The part of the hash that the table keeps.
  static uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  static uint32_t TagOf(std::string_view text) { return TagOf(HashOf(text)); }

  // Returns the number of the text, which is copied if it is new. Throws AllocationFailure.
  uint32_t Add(std::string_view text) {
    const uint32_t tag = TagOf(text), found = FindOrReserve(text, tag);
    return found != kNone ? found : Append(arena_.Copy(text), tag);
  }
  // The same without a copy. REQUIRES: the bytes outlive the interner and do not move.
  uint32_t AddView(std::string_view text) {
    const uint32_t tag = TagOf(text), found = FindOrReserve(text, tag);
    return found != kNone ? found : Append(text, tag);
  }
  // Adds them in their order, copied where they are new, and appends their numbers to `numbers`. Faster than one by
  // one when the table is larger than the processor's caches: each slot is prefetched long before its use.
  template <typename Number>
  void AddAll(const TaggedTexts& all, std::vector<Number>* numbers) {
    constexpr size_t kAhead = 16;
    const size_t before = numbers->size();
    numbers->resize(before + all.texts.size());
    for (size_t i = 0; i < all.texts.size(); ++i) {
      if (i + kAhead < all.texts.size() && !slots_.empty())
        __builtin_prefetch(&slots_[HomeOf(all.tags[i + kAhead])], 1);
      const uint32_t found = FindOrReserve(all.texts[i], all.tags[i]);
      (*numbers)[before + i] =
          static_cast<Number>(found != kNone ? found : Append(arena_.Copy(all.texts[i]), all.tags[i]));
    }
  }

  // All texts by number; `tags` holds the tags. Valid until the next Add.
  TaggedTexts Tagged(std::vector<uint32_t>* tags) const {
    tags->resize(texts_.size());
    for (const uint64_t slot : slots_.view()) {
      if (slot != 0) (*tags)[NumberOf(slot)] = TagIn(slot);
    }
    return {texts_.view(), *tags};
  }

  uint32_t Find(std::string_view text) const {
    if (texts_.empty()) return kNone;
    const uint32_t tag = TagOf(text);
    for (size_t at = HomeOf(tag);; at = (at + 1) & mask_) {
      const uint64_t slot = slots_[at];
      if (slot == 0) return kNone;
      if (IsAt(slot, text, tag)) return NumberOf(slot);
    }
  }

  std::string_view text(uint32_t number) const { return texts_[number]; }
  uint32_t size() const { return static_cast<uint32_t>(texts_.size()); }
  bool empty() const { return texts_.empty(); }
  size_t memory_bytes() const { return arena_.memory_bytes() + texts_.memory_bytes() + slots_.memory_bytes(); }

  // Removes all texts; keeps the memory of the table.
  void Clear() {
    if (texts_.empty()) return;
    arena_ = Arena();
    texts_.clear();
    std::memset(slots_.data(), 0, slots_.size() * sizeof(uint64_t));
  }

 private:
  // A slot: the tag in its upper half, the number plus 1 in its lower half; 0: free.
  static uint32_t NumberOf(uint64_t slot) { return static_cast<uint32_t>(slot) - 1; }
  static uint32_t TagIn(uint64_t slot) { return static_cast<uint32_t>(slot >> 32); }
  size_t HomeOf(uint32_t tag) const { return tag >> shift_; }
  bool IsAt(uint64_t slot, std::string_view text, uint32_t tag) const {
    return TagIn(slot) == tag && texts_[NumberOf(slot)] == text;
  }

  // kNone: the text is new, free_ is its slot.
  uint32_t FindOrReserve(std::string_view text, uint32_t tag) {
    if (texts_.size() * 4 >= slots_.size() * 3) Grow();
    size_t at = HomeOf(tag);
    while (slots_[at] != 0) {
      if (IsAt(slots_[at], text, tag)) return NumberOf(slots_[at]);
      at = (at + 1) & mask_;
    }
    free_ = at;
    return kNone;
  }
  uint32_t Append(std::string_view kept, uint32_t tag) {
    texts_.push_back(kept);
    slots_[free_] = uint64_t{tag} << 32 | static_cast<uint32_t>(texts_.size());
    return static_cast<uint32_t>(texts_.size()) - 1;
  }

  void Grow() {
    const size_t count = slots_.empty() ? 64 : slots_.size() * 2;
    Column<uint64_t> larger;
    larger.reserve(count);
    larger.resize(count, 0);
    mask_ = count - 1;
    shift_ = static_cast<unsigned>(std::countl_zero(static_cast<uint32_t>(mask_)));
    for (const uint64_t slot : slots_.view()) {
      if (slot == 0) continue;
      size_t at = HomeOf(TagIn(slot));
      while (larger[at] != 0)
        at = (at + 1) & mask_;
      larger[at] = slot;
    }
    slots_.swap(larger);
  }

  Arena arena_;
  Column<std::string_view> texts_;
  Column<uint64_t> slots_;
  size_t mask_ = 0;
  unsigned shift_ = 0;  // of a tag to the right: its first slot
  size_t free_ = 0;     // set by FindOrReserve
};

}  // namespace opscope
