// A growing array of plain values for table columns. Grows through realloc, which for large blocks
// moves page tables instead of bytes (mremap), so growth never holds two copies of a large column.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

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
  ~Column() { std::free(data_); }

  void push_back(const T& value) {
    if (size_ == capacity_) Grow(size_ + 1);
    data_[size_++] = value;
  }
  void resize(size_t size, const T& fill) {
    if (size > capacity_) Grow(size);
    for (size_t i = size_; i < size; ++i) data_[i] = fill;
    size_ = size;
  }
  void reserve(size_t capacity) {
    if (capacity > capacity_) Grow(capacity);
  }
  void shrink_to_fit() {
    if (size_ == capacity_ || size_ == 0) return;
    if (void* smaller = std::realloc(static_cast<void*>(data_), size_ * sizeof(T))) {
      data_ = static_cast<T*>(smaller);
      capacity_ = size_;
    }
  }
  void clear() { size_ = 0; }

  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& back() { return data_[size_ - 1]; }
  std::span<const T> view() const { return {data_, size_}; }
  size_t memory_bytes() const { return capacity_ * sizeof(T); }

  void swap(Column& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void Grow(size_t at_least) {
    size_t capacity = capacity_ < 16 ? 16 : capacity_ + capacity_ / 2;
    if (capacity < at_least) capacity = at_least;
    void* larger = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (larger == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(larger);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace opscope
