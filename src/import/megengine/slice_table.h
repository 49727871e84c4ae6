// Values by keys that are slices of a text, in the order in which the keys came. The parts of a document mostly name
// the same things in the same order: a search looks first behind what it found last, where nothing needs to be hashed.
// The text of a key that was read long ago is no longer near the processor: what decides stands in the table.
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

// A slice with its first and its last eight bytes, which are all of a short one.
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
  // That of an equal key, or a new one at the end. Valid until the next call.
  Value& operator[](std::string_view key) {
    if (const size_t known = RowOf(key); known != kNone) return values_[known];
    const SliceKey added(key);
    rows_.emplace(added, static_cast<uint32_t>(values_.size()));
    keys_.push_back(added);
    return values_.emplace_back();
  }
  // Takes out the last one if it has that key.
  void DropLast(std::string_view key) {
    if (keys_.empty() || !(keys_.back() == SliceKey(key))) return;
    rows_.erase(keys_.back());
    keys_.pop_back();
    values_.pop_back();
    next_ = 0;
  }
  // nullptr: there is none.
  const Value* Find(std::string_view key) const {
    const size_t row = RowOf(key);
    return row == kNone ? nullptr : &values_[row];
  }

  std::span<const Value> values() const { return values_; }
  // That it takes, beside the text.
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
