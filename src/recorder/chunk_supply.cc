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

RecordingFile::Unit TakeAnywhere(Window* window, uint32_t size, uint32_t depths) {
  if (window->file != nullptr) {
    const RecordingFile::Unit unit = window->file->TakeUnit(size, depths);
    if (unit.chunk != nullptr) return unit;
  }
  return {TakeChunk(size), nullptr};
}

}  // namespace

void GiveBack(Window* window, ChunkHeader* chunk, uint32_t size) {
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

void RecycleOldest(StreamState* state, Window* window) {
  ChunkHeader* oldest = state->chunks[0];
  const uint32_t size = oldest->size;
  const uint32_t records = LoadPublished(oldest).record_count;
  state->recycled += records;
  if (state->stream.open_capacity != 0) {
    __atomic_fetch_add(&OpenTableOf(&state->stream)->dropped, records, __ATOMIC_RELAXED);
  }
  state->chunks.RemoveFirst();
  if (!LeaveToDump(state, oldest, size)) GiveBack(window, oldest, size);
  window->bytes.fetch_sub(size, std::memory_order_relaxed);
}

RecordingFile::Unit TakeUnderCap(StreamState* state, Window* window, uint32_t size, uint32_t depths) {
  const bool keep_newest = window->at_cap == AtCap::kKeepNewest;
  while (!Charge(window, size, false)) {
    if (!keep_newest) return {};
    if (state->chunks.size() > 1) {
      RecycleOldest(state, window);
      continue;
    }
    if (GiveUpEndedStream(window)) continue;
    Charge(window, size, true);  // the current chunk is recycled as soon as its open scopes have moved
    break;
  }
  RecordingFile::Unit taken = TakeAnywhere(window, size, depths);
  if (taken.chunk == nullptr && keep_newest && state->chunks.size() > 1) {  // memory is short: as at the cap
    RecycleOldest(state, window);
    taken = TakeAnywhere(window, size, depths);
  }
  if (taken.chunk == nullptr) window->bytes.fetch_sub(size, std::memory_order_relaxed);
  return taken;
}

}  // namespace opscope
