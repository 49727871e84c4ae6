// A column that allocates its rows when the first of them gets a value other than its blank (default).
// Tables have a column for everything that some input may say, and most inputs say little of it: a dense
// column would cost 4 or 8 bytes per row for nothing.
//
//   LazyColumn<StackId, StackId::kNone> stack;
//   stack.resize_unset(1'000'000);          // no memory yet
//   stack.Set(7, StackId{3});               // allocates; all other rows hold kNone
//
// The bytes of a blank are all alike (0x00, or 0xff: kNone, -1), so a column without rows is shown as
// ConstantMemory.
//
// Thread rule: one thread at a time, but Set: several threads may set different rows at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/column.h"
#include "base/constant_memory.h"
#include "base/mutex.h"

namespace opscope {

// Memory for the two kinds of blanks, shared by the columns of a table.
struct ConstantBytes {
  ConstantMemory zeros{0x00}, ones{0xff};
};

template <typename T, T kFillValue>
class LazyColumn {
  using Bytes = std::array<uint8_t, sizeof(T)>;
  static constexpr uint8_t kByte = std::bit_cast<Bytes>(kFillValue)[0];
  static_assert((kByte == 0x00 || kByte == 0xff) &&
                std::ranges::count(std::bit_cast<Bytes>(kFillValue), kByte) == sizeof(T));

 public:
  // True until a row gets another value.
  bool is_unallocated() const { return rows_.load(std::memory_order_acquire) == nullptr; }
  T operator[](size_t at) const {
    const T* rows = rows_.load(std::memory_order_acquire);
    return rows == nullptr ? kFillValue : rows[at];
  }
  void Set(size_t at, T value) {
    T* rows = rows_.load(std::memory_order_acquire);
    if (rows == nullptr) {
      if (value == kFillValue) return;
      rows = Fill();
    }
    rows[at] = value;
  }

  // Sets the number of rows; new rows hold the blank, or are undefined until Set. REQUIRES: borrowed memory
  // has room
  void resize_unset(size_t size) {
    size_ = size;
    if (is_unallocated()) return;
    column_.resize_unset(size);
    Adopt();
  }
  void grow(size_t capacity) {
    if (capacity > capacity_) {
      capacity_ = capacity;
      borrowed_memory_ = nullptr;  // too small
    }
    if (is_unallocated()) return;
    column_.grow(capacity);
    Adopt();
  }
  void reserve(size_t capacity) { grow(capacity); }
  void shrink_to_fit() {
    column_.shrink_to_fit();
    if (!is_unallocated()) Adopt();
  }
  // Memory for the rows, used if they are needed. REQUIRES: as Column::Borrow
  void Borrow(void* memory, size_t capacity) {
    borrowed_memory_ = memory;
    capacity_ = capacity;
  }

  // The rows, nullptr while there are none. Call Adopt() after a change that may move them.
  Column<T>* filled() { return is_unallocated() ? nullptr : &column_; }
  void Adopt() { rows_.store(column_.data(), std::memory_order_relaxed); }

  // Allocates the rows: those before `first` keep their values, the others are undefined until written.
  T* FillBefore(size_t first) {
    if (is_unallocated()) MakeRoom(first);
    return column_.data();
  }

  std::span<T> rows() { return {column_.data(), column_.size()}; }  // empty while all are blank
  std::span<const T> view(ConstantBytes* constants) const {
    if (!is_unallocated() || size_ == 0) return column_.view();
    ConstantMemory& memory = kByte == 0 ? constants->zeros : constants->ones;
    return {static_cast<const T*>(memory.AtLeast(size_ * sizeof(T))), size_};
  }
  size_t size() const { return size_; }
  size_t memory_bytes() const { return column_.memory_bytes(); }
  static constexpr size_t row_bytes() { return sizeof(T); }

 private:
  T* Fill() {
    // Once in the life of a column. Its own: a lock of all columns would stay locked in the child of a fork that came
    // while another thread filled one.
    const MutexLock lock(filling_);
    if (!is_unallocated()) return column_.data();
    MakeRoom(size_);
    return column_.data();
  }
  // Blank rows up to `blank_rows`.
  void MakeRoom(size_t blank_rows) {
    if (borrowed_memory_ != nullptr) {
      column_.Borrow(borrowed_memory_, capacity_);
    } else {
      column_.grow(std::max(capacity_, size_));
    }
    column_.resize(blank_rows, kFillValue);
    column_.resize_unset(size_);
    rows_.store(column_.data(), std::memory_order_release);
  }

  std::atomic<T*> rows_ = nullptr;  // of column_, once it has any
  Column<T> column_;
  size_t size_ = 0;
  size_t capacity_ = 0;
  void* borrowed_memory_ = nullptr;
  Mutex filling_;
};

}  // namespace opscope
