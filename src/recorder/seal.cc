// How a stream is read while its thread writes: the thread may be anywhere in the inline path, and it
// notices the close at its next event only. It publishes records with one store, so the records
// [0, n) of some moment are exact for any n that was read. What was open at that moment follows from
// the list of open scopes, read before n: what had left the list was published before that (invariant 4
// of recorder_abi.h), and a scope of the list has ended exactly when its record is among those published
// since; since means from one before the count that was read first, because the scope that is between
// publishing and start 0 has the last record of all. What the thread writes later goes into
// its own chunk, which from here on has no readers: the recording gets a copy.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/seal.h"

#include <cstring>

#include "recorder/chunk_pool.h"
#include "recorder/open_scopes.h"
#include "recorder/unfinished.h"

namespace opscope {
namespace {

ChunkHeader* TakeCharged(Window* window, uint32_t size) {
  ChunkHeader* chunk = TakeChunk(size);
  if (chunk != nullptr) window->bytes.fetch_add(size, std::memory_order_relaxed);
  return chunk;
}

// The published part of a chunk that its thread may go on writing to. Null when memory is short.
ChunkHeader* CopyPublished(Window* window, const ChunkHeader* chunk, PublishedExtent extent) {
  ChunkHeader* copy = TakeCharged(window, chunk->size);
  if (copy == nullptr) return nullptr;
  CopyHeader(*chunk, copy);
  const char* from = reinterpret_cast<const char*>(chunk);
  char* to = reinterpret_cast<char*>(copy);
  std::memcpy(to + sizeof(ChunkHeader), from + sizeof(ChunkHeader), extent.record_count * sizeof(Record));
  std::memcpy(to + extent.entries_begin, from + extent.entries_begin, chunk->size - extent.entries_begin);
  return copy;
}

// A chunk of their own after `last`. Null when memory is short.
ChunkHeader* MakeUnfinishedChunk(Window* window, const ChunkHeader* last, const OpenScopeCopies& copies,
                                 uint64_t end_ticks) {
  uint64_t size = UnfinishedChunkBytes(last, copies);
  if (size <= kChunkBytes) size = kChunkBytes;  // of the pool
  ChunkHeader* chunk = size > kMaxUnfinishedChunkBytes ? nullptr : TakeCharged(window, static_cast<uint32_t>(size));
  if (chunk != nullptr) FillUnfinishedChunk(last, copies, end_ticks, static_cast<uint32_t>(size), chunk);
  return chunk;
}

// Number of scopes that could be written.
uint64_t WriteUnfinished(Window* window, StreamState* state, const OpenScopeCopies& copies, uint64_t end_ticks)
    OPSCOPE_REQUIRES(state->mutex) {
  if (copies.empty() || state->chunks.empty()) return 0;
  if (AppendUnfinished(state->chunks.back(), copies, end_ticks)) return copies.size();
  if (!state->chunks.Reserve(state->chunks.size() + 1)) return 0;
  ChunkHeader* unfinished_chunk = MakeUnfinishedChunk(window, state->chunks.back(), copies, end_ticks);
  return unfinished_chunk != nullptr && state->chunks.Push(unfinished_chunk) ? copies.size() : 0;
}

// The chunk stays where its thread writes to it; if that is a file, only its address does.
void Retain(Window* window, StreamState* state, ChunkHeader* chunk, const ChunkHeader* copy)
    OPSCOPE_REQUIRES(state->mutex) {
  state->retained = chunk;
  state->retained_bytes = chunk->size;
  state->retained_in_file = state->stream.open_capacity != 0;
  if (!state->retained_in_file) return;
  const bool is_read = state->pins[0].chunk == chunk || state->pins[1].chunk == chunk;
  const RecordingFile::RetainedUnit retained = window->file->Retain(chunk, !is_read);
  state->retained = is_read ? nullptr : retained.address;  // null: it stays mapped, for the dump that reads it
  state->retained_bytes = retained.bytes;
  state->sealed_copy = retained.chunk_offset == 0 ? nullptr : copy;
  state->sealed_copy_offset = retained.chunk_offset;
}

// Replaces the current chunk by one that is final. False: memory is short, what is in it is lost.
bool SealCurrentChunk(Window* window, StreamState* state, PublishedExtent extent) OPSCOPE_REQUIRES(state->mutex) {
  ChunkHeader* chunk = state->stream.chunk;
  if (!state->held_by_owner || state->stream.thread == opscope_tls) {  // no thread is writing
    StorePublished(chunk, extent);
    return true;
  }
  ChunkHeader* copy = CopyPublished(window, chunk, extent);
  Retain(window, state, chunk, copy);
  if (copy == nullptr) {
    state->chunks.SetSize(state->chunks.size() - 1);
    return false;
  }
  StorePublished(copy, extent);
  state->chunks.back() = copy;
  return true;
}

}  // namespace

void SealStream(Window* window, StreamState* state, uint64_t end_ticks) {
  MutexLock lock(state->mutex);
  state->sealed = true;
  Stream& stream = state->stream;
  const ChunkHeader* chunk = stream.chunk;
  const uint32_t before = chunk == nullptr ? 0 : LoadPublished(chunk).record_count;
  OpenScopeCopies copies;
  if (!ListOpenScopes(stream, window->generation, &copies)) {
    registry.broken_invariants.fetch_add(1, std::memory_order_relaxed);
  }
  PublishedExtent extent;
  bool is_sealed = true;
  if (chunk != nullptr) {
    extent = LoadPublished(chunk);
    RemoveFinished(&copies, chunk, before == 0 ? 0 : before - 1, extent.record_count);
    extent.entries_begin = LowestByteOf(copies, chunk, extent.entries_begin);
    is_sealed = SealCurrentChunk(window, state, extent);
  }
  const uint64_t open = copies.size();
  if (state->stopped) RemoveNameless(&copies);
  const uint64_t lost = is_sealed ? 0 : extent.record_count;
  const uint64_t unfinished = is_sealed ? WriteUnfinished(window, state, copies, end_ticks) : 0;
  state->recorded = state->written_before + extent.record_count - state->recycled - lost + unfinished;
  state->dropped = stream.dropped.load(std::memory_order_relaxed) + state->recycled + lost + (open - unfinished) +
                   state->dropped_elsewhere.load(std::memory_order_relaxed);
}

}  // namespace opscope
