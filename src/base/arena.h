// Memory that is given out in pieces and freed all at once. Pieces never move, also when the arena is moved.
//
//   Arena arena;
//   const std::string_view name = arena.Copy(text);    // valid as long as the arena
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/allocation_failure.h"
#include "base/huge_pages.h"

namespace opscope {

class Arena {
 public:
  Arena() = default;
  Arena(Arena&& other) noexcept { Swap(other); }
  Arena& operator=(Arena&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~Arena() {
    while (blocks_ != nullptr) {
      Block* next = blocks_->next;
      std::free(blocks_);
      blocks_ = next;
    }
  }

  // Both throw AllocationFailure.
  std::string_view Copy(std::string_view text) {
    char* copy = Allocate(text.size());
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  template <typename T>
  std::span<T> Copy(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
    if (values.empty()) return {};
    used_ = (used_ + 7) & ~size_t{7};
    char* copy = Allocate(values.size_bytes());
    std::memcpy(copy, values.data(), values.size_bytes());
    return {reinterpret_cast<T*>(copy), values.size()};
  }

  size_t memory_bytes() const { return memory_bytes_; }  // of all blocks

 private:
  struct alignas(16) Block {
    Block* next;
  };
  static constexpr size_t kBlockBytes = size_t{64} * 1024;
  // An arena of many megabytes grows by huge pages: filling fresh memory is bound by page faults.
  static constexpr size_t kLarge = 2 * kHugePageBytes;

  char* Allocate(size_t size) {
    if (used_ > capacity_ || size > capacity_ - used_) NewBlock(size);
    char* piece = reinterpret_cast<char*>(blocks_) + used_;
    used_ += size;
    return piece;
  }

  void NewBlock(size_t at_least) {
    const bool huge = memory_bytes_ >= kLarge && at_least <= kHugePageBytes - sizeof(Block);
    const size_t bytes = huge ? kHugePageBytes : sizeof(Block) + (at_least > kBlockBytes ? at_least : kBlockBytes);
    auto* block = static_cast<Block*>(huge ? std::aligned_alloc(kHugePageBytes, bytes) : std::malloc(bytes));
    if (block == nullptr) throw AllocationFailure(bytes);
    if (huge) madvise(block, bytes, MADV_HUGEPAGE);  // advice: a refusal changes nothing
    block->next = blocks_;
    blocks_ = block;
    used_ = sizeof(Block);
    capacity_ = bytes;
    memory_bytes_ += bytes;
  }

  void Swap(Arena& other) noexcept {
    std::swap(blocks_, other.blocks_);
    std::swap(used_, other.used_);
    std::swap(capacity_, other.capacity_);
    std::swap(memory_bytes_, other.memory_bytes_);
  }

  Block* blocks_ = nullptr;
  size_t used_ = 0;      // of the newest block, header included
  size_t capacity_ = 0;  // of the newest block, header included
  size_t memory_bytes_ = 0;
};

}  // namespace opscope
