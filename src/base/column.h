// A growing array of plain values for table columns. Growth never holds two copies of a large one (array_memory.h).
// Columns of one table may lie in a block that the table owns (huge_block.h); one that outgrows its piece moves out of
// it.
//
// Functions that grow throw AllocationFailure and leave the rows as they were. Growth invalidates pointers to rows.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "base/array_memory.h"

namespace opscope {

template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Column() { Free(); }

  // REQUIRES: no rows yet; the memory outlives the column.
  void Borrow(void* memory, size_t capacity) {
    Free();
    data_ = static_cast<T*>(memory);
    capacity_ = capacity;
    borrowed_ = true;
  }

  void push_back(const T& value) {
    if (size_ == capacity_) Grow(size_ + 1);
    data_[size_++] = value;
  }
  // REQUIRES: size() < capacity()
  void append_reserved(const T& value) { data_[size_++] = value; }
  // The new rows are undefined until they are written.
  void resize_unset(size_t size) {
    if (size > capacity_) Grow(size);
    size_ = size;
  }
  void resize(size_t size, const T& fill) {
    if (size > capacity_) Grow(size);
    for (size_t i = size_; i < size; ++i)
      data_[i] = fill;
    size_ = size;
  }
  // For a known number of rows: on huge pages, if there are enough.
  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    Reallocate(capacity);
    AdviseHugePages(data_, memory_bytes());
  }
  // The same without huge pages, for capacities that grow step by step.
  void grow(size_t capacity) {
    if (capacity > capacity_) Reallocate(capacity);
  }
  void shrink_to_fit() {
    if (size_ == capacity_ || size_ == 0 || borrowed_) return;
    if (void* smaller = ReallocateArray(data_, memory_bytes(), size_ * sizeof(T))) {
      data_ = static_cast<T*>(smaller);
      capacity_ = size_;
    }
  }
  // Replaces the rows by those that the caller wrote into the spare array, and leaves the old array there.
  // REQUIRES: not borrowed; spare->bytes is a multiple of row_bytes()
  void Exchange(SpareArray* spare, size_t size) {
    const size_t left = memory_bytes();
    capacity_ = spare->bytes / sizeof(T);
    data_ = static_cast<T*>(std::exchange(spare->data, data_));
    spare->bytes = left;
    size_ = size;
  }
  void clear() { size_ = 0; }

  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T& back() { return data_[size_ - 1]; }
  std::span<const T> view() const { return {data_, size_}; }
  bool borrowed() const { return borrowed_; }
  size_t memory_bytes() const { return capacity_ * sizeof(T); }
  static constexpr size_t row_bytes() { return sizeof(T); }

  void swap(Column& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(borrowed_, other.borrowed_);
  }

 private:
  void Grow(size_t at_least) {
    size_t capacity = capacity_ < 16 ? 16 : capacity_ + capacity_ / 2;
    Reallocate(capacity < at_least ? at_least : capacity);
  }
  void Reallocate(size_t capacity) {
    if (capacity > SIZE_MAX / sizeof(T)) throw AllocationFailure(SIZE_MAX);
    const size_t bytes = capacity * sizeof(T);
    void* larger = borrowed_ ? ReallocateArray(nullptr, 0, bytes) : ReallocateArray(data_, memory_bytes(), bytes);
    if (larger == nullptr) throw AllocationFailure(bytes);
    if (borrowed_ && size_ > 0) std::memcpy(larger, static_cast<const void*>(data_), size_ * sizeof(T));
    borrowed_ = false;
    data_ = static_cast<T*>(larger);
    capacity_ = capacity;
  }
  void Free() {
    if (!borrowed_) FreeArray(data_, memory_bytes());
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  bool borrowed_ = false;
};

}  // namespace opscope
