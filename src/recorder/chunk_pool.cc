// The first touch of memory costs more than everything else in recording. So the pool touches 8 MiB before
// the first window opens and keeps the chunks of freed windows for the next one. Two size problems:
//
//   small chunks    under a small cap with many threads chunks shrink to 4 KiB; the pool cuts a chunk of 256 KiB into
//                   equal parts, one free list per power of two
//   large demand    writers in the background fill the pool from a huge page of 2 MiB, which the system clears in a
//                   quarter of the time of 512 small pages; a recording thread never does, because the system may have
//                   to compact memory first, for milliseconds
// SPDX-License-Identifier: Apache-2.0
#include "recorder/chunk_pool.h"

#include <sys/mman.h>

#include <bit>

#include "base/mutex.h"

namespace opscope {
namespace {

// Lies in the memory of an unused part.
struct FreePart {
  FreePart* next;
};

constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which the headers of older systems do not know
constexpr uint64_t kMaxPartBytes = uint64_t{2} << 20;
constexpr int kPartSizes = std::countr_zero(kChunkBytes) - std::countr_zero(kMinChunkBytes);

struct ChunkPool {
  Mutex mutex;
  bool touched OPSCOPE_GUARDED_BY(mutex) = false;
  uint32_t count OPSCOPE_GUARDED_BY(mutex) = 0;
  void* chunks[kPooledChunks] OPSCOPE_GUARDED_BY(mutex) = {};
  // Of kMinChunkBytes, twice that and so on, below kChunkBytes.
  FreePart* parts[kPartSizes] OPSCOPE_GUARDED_BY(mutex) = {};
  uint64_t part_bytes OPSCOPE_GUARDED_BY(mutex) = 0;
};
constinit ChunkPool pool;

// Null: the size is no power of two below kChunkBytes.
FreePart** PartsOf(uint32_t size) OPSCOPE_UNCHECKED_LOCKS {  // where it is, not what is there
  if (!std::has_single_bit(size) || size < kMinChunkBytes || size >= kChunkBytes) return nullptr;
  return &pool.parts[std::countr_zero(size) - std::countr_zero(kMinChunkBytes)];
}

void AddPart(FreePart** parts, void* address, uint32_t size) OPSCOPE_REQUIRES(pool.mutex) {
  auto* part = static_cast<FreePart*>(address);
  part->next = *parts;
  *parts = part;
  pool.part_bytes += size;
}

// Cuts up a chunk of the pool when there is no part. Null: there is no chunk either.
void* TakePart(FreePart** parts, uint32_t size) OPSCOPE_REQUIRES(pool.mutex) {
  if (*parts == nullptr) {
    if (pool.count == 0) return nullptr;
    auto* chunk = static_cast<char*>(pool.chunks[--pool.count]);
    for (uint32_t at = kChunkBytes; at != 0;) {
      at -= size;
      AddPart(parts, chunk + at, size);
    }
  }
  FreePart* part = *parts;
  *parts = part->next;
  pool.part_bytes -= size;
  return part;
}

void* MapPrefaulted(uint64_t size) {
  void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return address == MAP_FAILED ? nullptr : address;
}

// Null: there is no memory, or the system does not know the advice to touch it (before Linux 5.14).
char* MapHugePage() {
  void* mapped = mmap(nullptr, 2 * kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const uint64_t before = -reinterpret_cast<uintptr_t>(mapped) % kHugePage;
  char* page = static_cast<char*>(mapped) + before;
  if (before != 0) munmap(mapped, before);
  munmap(page + kHugePage, kHugePage - before);
  madvise(page, kHugePage, MADV_HUGEPAGE);  // advice: a refusal changes nothing
  if (madvise(page, kHugePage, kPopulateWrite) == 0) return page;
  munmap(page, kHugePage);
  return nullptr;
}

// All chunks of it but the first.
void PoolRestOf(char* page) {
  MutexLock lock(pool.mutex);
  // The last address first, as in PrefaultPool.
  for (uint64_t at = kHugePage - kChunkBytes; at != 0; at -= kChunkBytes) {
    if (pool.count < kPooledChunks) {
      pool.chunks[pool.count++] = page + at;
    } else {
      UnmapMemory(page + at, kChunkBytes);
    }
  }
}

void* TakePooled() {
  MutexLock lock(pool.mutex);
  return pool.count == 0 ? nullptr : pool.chunks[--pool.count];
}

}  // namespace

void PrefaultPool() {
  MutexLock lock(pool.mutex);
  if (pool.touched && pool.count >= kReadyChunks) return;
  const uint32_t wanted = pool.touched ? kReadyChunks - pool.count : kPooledChunks;
  pool.touched = true;
  auto* address = static_cast<char*>(MapPrefaulted(uint64_t{wanted} * kChunkBytes));
  if (address == nullptr) return;  // chunks are then mapped one by one, as far as memory goes
  // The last address first: chunks are then taken in the order of addresses.
  for (uint32_t i = wanted; i-- > 0;)
    pool.chunks[pool.count++] = address + uint64_t{i} * kChunkBytes;
}

ChunkHeader* TakeChunk(uint32_t size) {
  if (size == kChunkBytes) {
    if (void* chunk = TakePooled(); chunk != nullptr) return static_cast<ChunkHeader*>(chunk);
  } else if (FreePart** parts = PartsOf(size); parts != nullptr) {
    MutexLock lock(pool.mutex);
    if (void* part = TakePart(parts, size); part != nullptr) return static_cast<ChunkHeader*>(part);
  }
  return static_cast<ChunkHeader*>(MapPrefaulted(size));
}

ChunkHeader* TakeChunkInBackground() {
  if (void* chunk = TakePooled(); chunk != nullptr) return static_cast<ChunkHeader*>(chunk);
  char* page = MapHugePage();
  if (page == nullptr) return TakeChunk(kChunkBytes);
  PoolRestOf(page);
  return reinterpret_cast<ChunkHeader*>(page);
}

void ReturnChunk(ChunkHeader* chunk, uint32_t size) {
  if (size == kChunkBytes) {
    MutexLock lock(pool.mutex);
    if (pool.count < kPooledChunks) {
      pool.chunks[pool.count++] = chunk;
      return;
    }
  } else if (FreePart** parts = PartsOf(size); parts != nullptr) {
    MutexLock lock(pool.mutex);
    if (pool.part_bytes + size <= kMaxPartBytes) return AddPart(parts, chunk, size);
  }
  UnmapMemory(chunk, size);
}

void UnmapMemory(void* address, uint64_t bytes) {
  munmap(address, bytes);
}

void DiscardPages(void* address, uint64_t bytes) {
  madvise(address, bytes, MADV_DONTNEED);
}

void LockPool() {
  pool.mutex.lock();
}
void UnlockPool() {
  pool.mutex.unlock();
}

}  // namespace opscope
