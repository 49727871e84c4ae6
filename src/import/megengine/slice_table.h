// A map from slices of a text to values, in the order of insertion. Parts of a document mostly have the same keys in
// the same order, so a search first compares the key after the last one found, without hashing. The table holds the
// first and last bytes of each key, because the text itself is most often no longer in the cache.
//
// Thread rule: one thread at a time, searches too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace opscope {

// A slice with copies of its first and its last eight bytes. Slices of at most 16 bytes need no other comparison.
class SliceKey {
 public:
  explicit SliceKey(std::string_view text) : text_(text) {
    const size_t bytes = std::min(text.size(), sizeof(head_));
    if (bytes == 0) return;  // its data may be null
    std::memcpy(&head_, text.data(), bytes);
    std::memcpy(&tail_, text.data() + text.size() - bytes, bytes);
  }
  bool operator==(const SliceKey& other) const {
    return head_ == other.head_ && tail_ == other.tail_ && text_.size() == other.text_.size() &&
           (text_.size() <= sizeof(head_) + sizeof(tail_) || text_ == other.text_);
  }
  std::string_view text() const { return text_; }

 private:
  uint64_t head_ = 0, tail_ = 0;
  std::string_view text_;
};

template <typename Value>
class SliceTable {
 public:
  // The value of the key; appended if the key is new. Valid until the next call.
  Value& operator[](std::string_view key) {
    if (const size_t known = RowOf(key); known != kNone) return values_[known];
    const SliceKey added(key);
    rows_.emplace(added, static_cast<uint32_t>(values_.size()));
    keys_.push_back(added);
    return values_.emplace_back();
  }
  // Removes the last entry if it has this key.
  void DropLast(std::string_view key) {
    if (keys_.empty() || !(keys_.back() == SliceKey(key))) return;
    rows_.erase(keys_.back());
    keys_.pop_back();
    values_.pop_back();
    next_ = 0;
  }
  // nullptr: the key is unknown.
  const Value* Find(std::string_view key) const {
    const size_t row = RowOf(key);
    return row == kNone ? nullptr : &values_[row];
  }

  std::span<const Value> values() const { return values_; }
  // Memory of the table, without the text.
  uint64_t bytes() const {
    return values_.capacity() * sizeof(Value) + keys_.capacity() * sizeof(SliceKey) +
           rows_.bucket_count() * sizeof(typename Rows::value_type);
  }

 private:
  struct Hash {
    size_t operator()(const SliceKey& key) const { return std::hash<std::string_view>()(key.text()); }
  };
  using Rows = tsl::robin_map<SliceKey, uint32_t, Hash>;
  static constexpr size_t kNone = SIZE_MAX;

  size_t RowOf(std::string_view text) const {
    const SliceKey key(text);
    if (next_ < keys_.size() && keys_[next_] == key) return next_++;
    const auto found = rows_.find(key);
    if (found == rows_.end()) return kNone;
    next_ = size_t{found->second} + 1;
    return found->second;
  }

  std::vector<SliceKey> keys_;
  std::vector<Value> values_;
  Rows rows_;
  mutable size_t next_ = 0;
};

}  // namespace opscope
