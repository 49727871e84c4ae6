// SPDX-License-Identifier: Apache-2.0
#include "recorder/chunk_pool.h"

#include <sys/mman.h>

#include <mutex>

namespace opscope {
namespace {

struct ChunkPool {
  std::mutex mutex;
  bool touched = false;
  uint32_t count = 0;
  void* chunks[kPooledChunks] = {};
};
constinit ChunkPool pool;

void* MapTouched(uint64_t size) {
  void* place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return place == MAP_FAILED ? nullptr : place;
}

}  // namespace

void TouchPool() {
  std::lock_guard<std::mutex> lock(pool.mutex);
  if (pool.touched && pool.count >= kReadyChunks) return;
  const uint32_t wanted = pool.touched ? kReadyChunks - pool.count : kPooledChunks;
  pool.touched = true;
  auto* place = static_cast<char*>(MapTouched(uint64_t{wanted} * kChunkBytes));
  if (place == nullptr) return;  // chunks are then mapped one by one, as far as memory goes
  // The last address first: chunks are then taken in the order of addresses.
  for (uint32_t i = wanted; i-- > 0;)
    pool.chunks[pool.count++] = place + uint64_t{i} * kChunkBytes;
}

ChunkHeader* TakeChunk(uint32_t size) {
  if (size == kChunkBytes) {
    std::lock_guard<std::mutex> lock(pool.mutex);
    if (pool.count != 0) return static_cast<ChunkHeader*>(pool.chunks[--pool.count]);
  }
  return static_cast<ChunkHeader*>(MapTouched(size));
}

void ReturnChunk(ChunkHeader* chunk, uint32_t size) {
  if (size == kChunkBytes) {
    std::lock_guard<std::mutex> lock(pool.mutex);
    if (pool.count < kPooledChunks) {
      pool.chunks[pool.count++] = chunk;
      return;
    }
  }
  UnmapMemory(chunk, size);
}

void UnmapMemory(void* place, uint64_t bytes) {
  munmap(place, bytes);
}

void ForgetPages(void* place, uint64_t bytes) {
  madvise(place, bytes, MADV_DONTNEED);
}

void LockPool() {
  pool.mutex.lock();
}
void UnlockPool() {
  pool.mutex.unlock();
}

}  // namespace opscope
