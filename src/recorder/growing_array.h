// A vector of plain values that reports a failed allocation instead of throwing: in the profiled program the
// recorder's lack of memory may cost records and nothing else.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "recorder/memory.h"

namespace opscope {

template <typename T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  constexpr GrowingArray() = default;
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;
  ~GrowingArray() { Free(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }

  // False: memory is short, nothing has changed.
  [[nodiscard]] bool Reserve(size_t count) {
    if (count <= capacity_) return true;
    size_t capacity = capacity_ < 8 ? 8 : capacity_ * 2;
    if (capacity < count) capacity = count;
    void* grown = AllocateMemory(capacity * sizeof(T));
    if (grown == nullptr) return false;
    if (size_ != 0) std::memcpy(grown, static_cast<const void*>(data_), size_ * sizeof(T));
    FreeMemory(data_, capacity_ * sizeof(T));
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
    return true;
  }
  [[nodiscard]] bool Push(const T& value) { return Append(&value, 1); }
  [[nodiscard]] bool Append(const T* values, size_t count) {
    if (!Reserve(size_ + count)) return false;
    if (count != 0) std::memcpy(static_cast<void*>(data_ + size_), values, count * sizeof(T));
    size_ += count;
    return true;
  }
  void RemoveFirst() {
    --size_;
    std::memmove(static_cast<void*>(data_), data_ + 1, size_ * sizeof(T));
  }
  void SetSize(size_t count) { size_ = count; }  // REQUIRES: reserved; new values are of any content
  void Free() {
    FreeMemory(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace opscope
