// Memory for large tables. Filling fresh memory costs more than most of what is filled in: a fault for each
// 4 KiB page, measured at 4 ms for 16 MiB against 1 ms on huge pages. Columns that are a megabyte each get no
// huge page of their own, so the columns of one table share a block.
//
// Thread rule: one thread at a time; the caller owns the memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/allocation_failure.h"
#include "base/huge_pages.h"

namespace opscope {

class HugeBlock {
 public:
  // Use malloc for less than this: the last huge page would be mostly waste.
  static constexpr size_t kBreakEvenBytes = kHugePageBytes / 2;

  HugeBlock() = default;
  // Throws AllocationFailure.
  explicit HugeBlock(size_t bytes)
      : size_((bytes + kHugePageBytes - 1) & ~(kHugePageBytes - 1)), mapped_bytes_(size_ + kHugePageBytes) {
    mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped_ == MAP_FAILED) throw AllocationFailure(mapped_bytes_);
    data_ = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(mapped_) + kHugePageBytes - 1) &
                                         ~(kHugePageBytes - 1));
    madvise(data_, size_, MADV_HUGEPAGE);  // advice: a refusal changes nothing
  }
  HugeBlock(HugeBlock&& other) noexcept { Swap(other); }
  HugeBlock& operator=(HugeBlock&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~HugeBlock() {
    if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
  }

  std::byte* data() { return data_; }
  size_t size() const { return size_; }  // 0: none

 private:
  void Swap(HugeBlock& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
  }

  std::byte* data_ = nullptr;
  size_t size_ = 0;
  size_t mapped_bytes_ = 0;
  void* mapped_ = nullptr;
};

}  // namespace opscope
