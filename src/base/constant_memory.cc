// Memory of constant bytes at almost no cost: an anonymous mapping reads as zeros without pages of its own;
// for 0xff one sealed memfd of 1 MiB is mapped again and again over the range. A memset would take 400 MB
// for a column of 100 million rows that says "unknown" in each. The piece is 1 MiB, because a process may
// have 65,530 mappings, which then cover 64 GiB. Without memfd the memory is filled after all.
// SPDX-License-Identifier: Apache-2.0
#include "base/constant_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/allocation_failure.h"
#include "base/descriptor.h"
#include "base/file_size_signal.h"

namespace opscope {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

// The limit of file sizes (ulimit -f) holds for files in memory, too: beyond it the caller fills memory of its own.
bool FillWithOnes(int file) {
  std::byte ones[4096];
  std::memset(ones, 0xff, sizeof(ones));
  FileSizeSignalBlocker signal;
  for (size_t at = 0; at < kPiece; at += sizeof(ones)) {
    const ssize_t written = pwrite(file, ones, sizeof(ones), static_cast<off_t>(at));
    if (written < 0 && errno == EFBIG) signal.Take();
    if (written != static_cast<ssize_t>(sizeof(ones))) return false;
  }
  return true;
}

// kPiece bytes of 0xff of a file in memory. It is sealed and its descriptor is closed, so it cannot be written.
// nullptr: the machine has none for us.
void* MapOnes() {
  const int file = MoveAboveStderr(memfd_create("opscope blank", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file < 0) return nullptr;
  void* ones = MAP_FAILED;
  if (FillWithOnes(file)) {
    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
    ones = mmap(nullptr, kPiece, PROT_READ, MAP_SHARED, file, 0);
  }
  close(file);
  return ones == MAP_FAILED ? nullptr : ones;
}

// The one piece of this process, nullptr where there is none. No lock, which the child of a fork could find locked for
// ever: of two threads that make the first one at once, the later gives its own up.
void* Ones() {
  static std::atomic<void*> piece{nullptr};
  void* known = piece.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  void* made = MapOnes();
  if (made == nullptr || piece.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
  munmap(made, kPiece);
  return known;
}

// Lays the piece over the whole range. False: what is not covered is still zeros.
bool CoverWithOnes(std::byte* memory, size_t bytes) {
  void* ones = Ones();
  if (ones == nullptr) return false;
  for (size_t at = 0; at < bytes; at += kPiece) {
    const size_t piece = std::min(kPiece, bytes - at);
    // An old size of 0: the shared mapping stays where it is, and is there once more.
    if (mremap(ones, 0, piece, MREMAP_MAYMOVE | MREMAP_FIXED, memory + at) == MAP_FAILED) return false;
  }
  return true;
}

}  // namespace

void ConstantMemory::Unmap::operator()(std::byte* memory) const {
  munmap(memory, bytes);
}

ConstantMemory::Mapping ConstantMemory::Map(size_t bytes) const {
  const int protection = byte_ == 0 ? PROT_READ : PROT_READ | PROT_WRITE;
  void* mapped = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw AllocationFailure(bytes);
  auto* memory = static_cast<std::byte*>(mapped);
  Mapping mapping(memory, Unmap{bytes});
  if (byte_ == 0 || (byte_ == 0xff && CoverWithOnes(memory, bytes))) return mapping;
  // Private memory in place of what a failed cover left.
  if (mmap(mapped, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    throw AllocationFailure(bytes);
  std::memset(mapped, byte_, bytes);
  return mapping;
}

const void* ConstantMemory::AtLeast(size_t bytes) {
  if (bytes > bytes_ || mappings_.empty()) {
    constexpr size_t kPage = 4096;
    // A growing table asks for more with each row; growing by half avoids a new mapping each time.
    const size_t size = (std::max({bytes, bytes_ + bytes_ / 2, kPage}) + kPage - 1) & ~(kPage - 1);
    mappings_.push_back(Map(size));
    bytes_ = size;
  }
  return mappings_.back().get();
}

}  // namespace opscope
