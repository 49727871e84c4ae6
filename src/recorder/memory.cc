// Sizes are rounded up to three significant bits (64, 128, ..., 512, 640, 768, ...), one list of free
// pieces per size; new pieces are cut from regions of 256 KiB. What is larger is mapped on its own.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/memory.h"

#include <sys/mman.h>

#include <bit>
#include <cstdint>

#include "base/mutex.h"
#include "base/signals_blocked.h"
#include "recorder/pages.h"

namespace opscope {
namespace {

constexpr size_t kRegionBytes = 256 * 1024;
constexpr size_t kLargestPiece = 64 * 1024;
constexpr size_t kAlignment = 64;
constexpr size_t kClasses = 4 * 24;

struct FreePiece {
  FreePiece* next;
};

struct Memory {
  Mutex mutex;
  FreePiece* free[kClasses] OPSCOPE_GUARDED_BY(mutex) = {};
  char* region OPSCOPE_GUARDED_BY(mutex) = nullptr;
  size_t left OPSCOPE_GUARDED_BY(mutex) = 0;  // of the region
};
constinit Memory memory;

size_t RoundedToThreeBits(size_t bytes) {
  if (bytes <= kAlignment) return kAlignment;
  const auto low_bits = static_cast<size_t>(std::bit_width(bytes - 1)) - 3;
  const size_t rounded = ((bytes - 1) >> low_bits << low_bits) + (size_t{1} << low_bits);
  return (rounded + kAlignment - 1) & ~(kAlignment - 1);
}

// REQUIRES: rounded.
size_t ClassOf(size_t bytes) {
  const auto width = static_cast<size_t>(std::bit_width(bytes));
  return width * 4 + (bytes >> (width - 3) & 3u);
}

void* Map(size_t bytes) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return address == MAP_FAILED ? nullptr : address;
}

void* CutPiece(size_t bytes) OPSCOPE_REQUIRES(memory.mutex) {
  if (memory.left < bytes) {  // the rest of the region is given up: less than a piece
    void* region = Map(kRegionBytes);
    if (region == nullptr) return nullptr;
    memory.region = static_cast<char*>(region);
    memory.left = kRegionBytes;
  }
  void* piece = memory.region;
  memory.region += bytes;
  memory.left -= bytes;
  return piece;
}

}  // namespace

void* AllocateMemory(size_t bytes) {
  const size_t rounded = RoundedToThreeBits(bytes);
  if (rounded > kLargestPiece) return Map(PageUp(bytes));
  const SignalsBlocked blocked;
  MutexLock lock(memory.mutex);
  FreePiece*& free = memory.free[ClassOf(rounded)];
  if (free == nullptr) return CutPiece(rounded);
  FreePiece* piece = free;
  free = piece->next;
  return piece;
}

void FreeMemory(void* address, size_t bytes) {
  if (address == nullptr) return;
  const size_t rounded = RoundedToThreeBits(bytes);
  if (rounded > kLargestPiece) {
    munmap(address, PageUp(bytes));
    return;
  }
  const SignalsBlocked blocked;
  MutexLock lock(memory.mutex);
  FreePiece*& free = memory.free[ClassOf(rounded)];
  free = ::new (address) FreePiece{free};
}

void LockMemory() {
  memory.mutex.lock();
}
void UnlockMemory() {
  memory.mutex.unlock();
}

}  // namespace opscope
