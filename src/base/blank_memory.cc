// SPDX-License-Identifier: Apache-2.0
#include "base/blank_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/memory_refused.h"

namespace opscope {
namespace {

constexpr size_t kPiece = size_t{1} << 20;  // so that a process's 65,530 mappings are enough for 64 GB

// A file in memory with kPiece bytes of 0xff. -1: the machine has none for us.
int MakeOnesFile() {
  const int made = memfd_create("opscope blank", MFD_CLOEXEC);
  if (made < 0) return -1;
  void* piece = MAP_FAILED;
  if (ftruncate(made, kPiece) == 0) piece = mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0);
  if (piece == MAP_FAILED) {
    close(made);
    return -1;
  }
  std::memset(piece, 0xff, kPiece);
  munmap(piece, kPiece);
  return made;
}

// The one file of this process. No lock, which the child of a fork could find locked for ever: of two threads that
// make the first one at once, the later gives its own up.
int OnesFile() {
  constexpr int kNotMade = -2;
  static std::atomic<int> file{kNotMade};
  int known = file.load(std::memory_order_acquire);
  if (known != kNotMade) return known;
  const int made = MakeOnesFile();
  if (file.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
  if (made >= 0) close(made);
  return known;
}

// Lays the file over the whole range. False: what is not covered is still zeros.
bool CoverWithOnes(std::byte* memory, size_t bytes) {
  const int file = OnesFile();
  if (file < 0) return false;
  for (size_t at = 0; at < bytes; at += kPiece) {
    const size_t piece = std::min(kPiece, bytes - at);
    if (mmap(memory + at, piece, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) return false;
  }
  return true;
}

}  // namespace

void BlankMemory::Unmap::operator()(std::byte* memory) const {
  munmap(memory, bytes);
}

BlankMemory::Mapping BlankMemory::Map(size_t bytes) const {
  const int protection = byte_ == 0 ? PROT_READ : PROT_READ | PROT_WRITE;
  void* mapped = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw MemoryRefused(bytes);
  auto* memory = static_cast<std::byte*>(mapped);
  Mapping mapping(memory, Unmap{bytes});
  if (byte_ == 0 || (byte_ == 0xff && CoverWithOnes(memory, bytes))) return mapping;
  // Memory of our own, whatever a failed cover left.
  if (mmap(mapped, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    throw MemoryRefused(bytes);
  std::memset(mapped, byte_, bytes);
  return mapping;
}

const void* BlankMemory::AtLeast(size_t bytes) {
  if (bytes > bytes_ || mappings_.empty()) {
    constexpr size_t kPage = 4096;
    // Asked for again and again while a table grows, it must not be mapped anew for each row.
    const size_t size = (std::max({bytes, bytes_ + bytes_ / 2, kPage}) + kPage - 1) & ~(kPage - 1);
    mappings_.push_back(Map(size));
    bytes_ = size;
  }
  return mappings_.back().get();
}

}  // namespace opscope
