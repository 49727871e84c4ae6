// Charges a chunk against the window's cap before it takes the memory. At the cap of a window that keeps
// the newest records, some thread must give up a chunk. Always the requesting thread would be simple, but then
// a busy thread evicts its last second while threads that ended or idle keep minutes. So:
//
//   A thread at or above its fair share (cap / live threads) evicts its own oldest chunk.
//   A thread below it evicts, in this order: the thread that ended first; the live thread with the most memory
//   above its share; itself.
//
// The locks of other threads come earlier in the lock order, so they are only tried. When the tries fail, the
// thread evicts its own oldest chunk. A recording at full speed stays within 0.4 MiB of a cap of 256 MiB
// (docs/explanation/performance.md, "Flight recorder").
// SPDX-License-Identifier: Apache-2.0
#include "recorder/chunk_supply.h"

#include <cstring>

#include "recorder/chunk_pool.h"
#include "recorder/ended_threads.h"

namespace opscope {
namespace {

bool Charge(Window* window, uint64_t bytes, bool beyond_the_cap) {
  uint64_t now = window->bytes.load(std::memory_order_relaxed);
  do {
    // The first chunk of all is granted under any cap: a window that can hold nothing is of no use.
    if (!beyond_the_cap && now != 0 && now + bytes > window->max_bytes) return false;
  } while (!window->bytes.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
  return true;
}

uint64_t FairShare(const Window* window) {
  const uint32_t live = window->live.load(std::memory_order_relaxed);
  return window->max_bytes / (live == 0 ? 1 : live);
}

// Gives up the oldest chunk of the thread that holds most, if that is more than its share. REQUIRES: the mutex of
// `requesting` is held; the others' come before it, so they are only tried.
bool EvictFromLargest(const StreamState* requesting, Window* window) {
  if (window->live.load(std::memory_order_relaxed) < 2 || !registry.mutex.try_lock()) return false;
  const MutexLock lock(registry.mutex, std::adopt_lock);
  StreamState* largest = nullptr;
  uint64_t most = FairShare(window);
  for (StreamState* state : window->streams) {
    const uint64_t bytes = state->chunk_bytes.load(std::memory_order_relaxed);
    if (state == requesting || !state->held_by_owner || bytes <= most) continue;
    largest = state;
    most = bytes;
  }
  if (largest == nullptr || !largest->mutex.try_lock()) return false;
  const MutexLock stream_lock(largest->mutex, std::adopt_lock);
  if (largest->sealed || largest->chunks.size() < 2) return false;
  EvictOldest(largest, window);
  return true;
}

// True: another thread has given up a chunk.
bool EvictFromOthers(const StreamState* requesting, Window* window) {
  if (requesting->chunk_bytes.load(std::memory_order_relaxed) >= FairShare(window)) return false;
  return EvictEndedStream(window) || EvictFromLargest(requesting, window);
}

// Deferred tracks are written by a thread of the source, which can wait for a huge page. `is_deferred` holds until the
// track is sealed, which takes the mutex.
RecordingFile::Unit TakeAnywhere(const StreamState* state, Window* window, uint32_t size, uint32_t depths) {
  if (window->file != nullptr) {
    const RecordingFile::Unit unit = window->file->TakeUnit(size, depths);
    if (unit.chunk != nullptr) return unit;
  }
  const bool may_wait = state->is_deferred && size == kChunkBytes;
  return {may_wait ? TakeChunkInBackground() : TakeChunk(size), nullptr};
}

}  // namespace

uint32_t DefaultChunkBytes(const Window* window) {
  uint32_t size = kChunkBytes;
  if (window->at_cap != AtCap::kKeepNewest) return size;
  while (size > kMinChunkBytes && size > FairShare(window) / 2)
    size /= 2;
  return size;
}

void ReleaseChunk(Window* window, ChunkHeader* chunk, uint32_t size) {
  if (window->file == nullptr || !window->file->Holds(chunk)) return ReturnChunk(chunk, size);
  window->file->ReturnUnit(chunk);
}

RecordingFile::Unit CopyToFile(Window* window, const ChunkHeader* chunk, uint64_t dropped) {
  const RecordingFile::Unit unit = window->file->TakeUnit(chunk->size, 0);
  if (unit.chunk == nullptr) return unit;
  __atomic_store_n(&unit.chunk->magic, 0u, __ATOMIC_RELEASE);
  constexpr size_t kMagic = sizeof(ChunkHeader::magic);
  std::memcpy(reinterpret_cast<char*>(unit.chunk) + kMagic, reinterpret_cast<const char*>(chunk) + kMagic,
              chunk->size - kMagic);
  unit.chunk->table_distance = unit.table->chunk_at;
  unit.table->dropped = dropped;
  RecordingFile::NameChunk(unit, chunk->thread_index, chunk->sequence);
  __atomic_store_n(&unit.chunk->magic, kChunkMagic, __ATOMIC_RELEASE);
  return unit;
}

void EvictOldest(StreamState* state, Window* window) {
  ChunkHeader* oldest = state->chunks[0];
  const uint32_t size = oldest->size;
  const uint32_t records = LoadPublished(oldest).record_count;
  state->recycled += records;
  if (state->stream.open_capacity != 0) {
    __atomic_fetch_add(&OpenTableOf(&state->stream)->dropped, records, __ATOMIC_RELAXED);
  }
  state->chunks.RemoveFirst();
  if (!LeaveToSnapshot(state, oldest, size)) ReleaseChunk(window, oldest, size);
  window->bytes.fetch_sub(size, std::memory_order_relaxed);
  state->chunk_bytes.store(state->chunk_bytes.load(std::memory_order_relaxed) - size, std::memory_order_relaxed);
}

RecordingFile::Unit TakeUnderCap(StreamState* state, Window* window, uint32_t size, uint32_t depths) {
  const bool keep_newest = window->at_cap == AtCap::kKeepNewest;
  while (!Charge(window, size, false)) {
    if (!keep_newest) return {};
    if (EvictFromOthers(state, window)) continue;
    if (state->chunks.size() > 1) {
      EvictOldest(state, window);
      continue;
    }
    Charge(window, size, true);  // the current chunk is recycled as soon as its open scopes have moved
    break;
  }
  RecordingFile::Unit taken = TakeAnywhere(state, window, size, depths);
  if (taken.chunk == nullptr && keep_newest && state->chunks.size() > 1) {  // memory is short: as at the cap
    EvictOldest(state, window);
    taken = TakeAnywhere(state, window, size, depths);
  }
  if (taken.chunk == nullptr) {
    window->bytes.fetch_sub(size, std::memory_order_relaxed);
  } else {
    state->chunk_bytes.store(state->chunk_bytes.load(std::memory_order_relaxed) + size, std::memory_order_relaxed);
  }
  return taken;
}

}  // namespace opscope
