// Frees what an ended thread does not need. A server that starts a thread per request would otherwise hold
// 256 KiB for each of them. Three stages, each smaller than the one before:
//
//   compact      copy the records of the current chunk into one of their size, if that is at most a quarter
//   evict        at the cap of a keep_newest window: drop its chunks, keep its counts
//   forget       beyond 256 such threads: add the counts to those of the window, drop the thread
//
// Locks are only tried where their order does not allow to wait; what fails now succeeds at a later end.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/ended_threads.h"

#include <sys/mman.h>

#include <cstdint>

#include "recorder/chunk_pool.h"
#include "recorder/chunk_sink.h"
#include "recorder/chunk_supply.h"
#include "recorder/open_table.h"
#include "recorder/pages.h"
#include "recorder/unfinished.h"

namespace opscope {
namespace {

// False: the entries need more room than they had.
bool CopyCompact(const ChunkHeader* from, uint32_t count, uint32_t size, ChunkHeader* to) {
  CopyHeader(*from, to);
  to->size = size;
  const auto* source = reinterpret_cast<const Record*>(from + 1);
  auto* target = reinterpret_cast<Record*>(to + 1);
  ChunkSink sink(to, count);
  const EntrySpace space = SpaceOf(from);
  struct Moved {
    uint32_t from = 0, to = 0;
  };
  constexpr size_t kCachedPayloads = 256;
  Moved payloads[kCachedPayloads];  // records may share a payload
  for (uint32_t i = 0; i < count; ++i) {
    target[i] = source[i];
    if (!HasEntries(source[i])) continue;
    Moved& moved = payloads[source[i].payload / 8 % kCachedPayloads];
    const bool is_known = source[i].payload != 0 && moved.from == source[i].payload;
    const CopiedEntries copied = CopyEntries(space, source[i].name, is_known ? 0 : source[i].payload, kNoThread, &sink);
    if (!is_known) moved = {source[i].payload, copied.payload};
    target[i].name = copied.name;
    target[i].payload = moved.to;
  }
  StorePublished(to, {count, sink.limit()});
  return !sink.full();
}

// Replaces the current chunk by one of the size of its contents, if that is at most a quarter. A larger copy would take
// too long for the threads that wait for the lock.
void Compact(StreamState* state, Window* window) OPSCOPE_REQUIRES(state->mutex) {
  Stream& stream = state->stream;
  ChunkHeader* chunk = stream.chunk;
  const PublishedExtent extent = LoadPublished(chunk);
  const uint64_t used =
      sizeof(ChunkHeader) + extent.record_count * sizeof(Record) + (chunk->size - extent.entries_begin);
  const auto size = static_cast<uint32_t>(PageUp(used));
  if (size > chunk->size / 4) return;
  ChunkHeader* compact = TakeChunk(size);
  if (compact == nullptr) return;
  if (!CopyCompact(chunk, extent.record_count, size, compact)) return ReturnChunk(compact, size);
  if (stream.open_capacity != 0) {
    const RecordingFile::Unit moved = CopyToFile(window, compact, OpenTableOf(&stream)->dropped);
    ReturnChunk(compact, size);
    if (moved.chunk == nullptr) return;
    compact = moved.chunk;
    SetOpenTable(&stream, moved.table);
  }
  window->bytes.fetch_sub(chunk->size - size, std::memory_order_relaxed);
  state->chunks.back() = compact;
  stream.chunk = compact;
  if (!LeaveToSnapshot(state, chunk, chunk->size)) ReleaseChunk(window, chunk, chunk->size);
}

void Append(StreamList* list, StreamState* state) {
  (list->last == nullptr ? list->first : list->last->next_ended) = state;
  list->last = state;
  state->next_ended = nullptr;
  ++list->size;
}

void RemoveFirst(StreamList* list) {
  list->first = list->first->next_ended;
  if (list->first == nullptr) list->last = nullptr;
  --list->size;
}

// REQUIRES: the stream has no chunk.
void Forget(StreamState* state, Window* window) OPSCOPE_REQUIRES(registry.mutex, state->mutex) {
  StreamState*& entry = window->streams[state->index];
  entry = window->streams.back();
  entry->index = state->index;
  window->streams.SetSize(window->streams.size() - 1);
  ++window->forgotten_threads;
  window->forgotten_dropped += state->stream.dropped.load(std::memory_order_relaxed) + state->recycled +
                               state->dropped_elsewhere.load(std::memory_order_relaxed);
  StopAccepting(&state->stream);
  state->held_by_window = false;
  RecycleWhenFree(state);
}

// A window keeps the counts of this many ended threads singly; those of earlier ones are added up.
constexpr uint32_t kMaxCountOnly = 256;

// REQUIRES: the stream has no chunk.
void KeepCounts(StreamState* state, Window* window) OPSCOPE_REQUIRES(registry.mutex, state->mutex) {
  Append(&window->count_only, state);
  if (window->count_only.size <= kMaxCountOnly || !window->dump_mutex.try_lock())
    return;  // a dump has listed the streams
  StreamState* oldest = window->count_only.first;
  if (oldest->mutex.try_lock()) {
    RemoveFirst(&window->count_only);
    Forget(oldest, window);
    oldest->mutex.unlock();
  }
  window->dump_mutex.unlock();
}

void EvictChunks(StreamState* state, Window* window) OPSCOPE_REQUIRES(state->mutex) {
  state->written_before += LoadPublished(state->stream.chunk).record_count;
  state->stream.chunk = nullptr;
  while (!state->chunks.empty())
    EvictOldest(state, window);
  state->chunks.Free();
  SetOpenTable(&state->stream, nullptr);
}

// Bytes that AllocateMemory takes for a StreamState.
constexpr uint64_t kStreamBytes = PageUp(sizeof(StreamState));

// The name caches have no user any more. Their pages come back as zeros: empty caches for the next thread.
void ReleaseCaches(Stream* stream) {
  const uintptr_t begin = PageUp(reinterpret_cast<uintptr_t>(stream->stable_names));
  const uintptr_t end = PageDown(reinterpret_cast<uintptr_t>(stream->copied_names + kNameCacheEntries));
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace

void CompactEndedStream(StreamState* state) {
  Stream& stream = state->stream;
  Window* window = stream.window;
  if (stream.top.load(std::memory_order_relaxed) != nullptr) return;  // others may end these scopes
  state->names.Free();
  ReleaseCaches(&stream);
  if (stream.chunk == nullptr) return KeepCounts(state, window);
  Compact(state, window);
  window->bytes.fetch_add(kStreamBytes, std::memory_order_relaxed);
  Append(&window->ended, state);
}

bool EvictEndedStream(Window* window) {
  if (!registry.mutex.try_lock()) return false;  // comes before the mutex of the stream that asks
  const MutexLock lock(registry.mutex, std::adopt_lock);
  StreamState* state = window->ended.first;
  const bool open = opscope_window_generation[window->slot].load(std::memory_order_relaxed) == window->generation;
  if (state == nullptr || !open || !state->mutex.try_lock()) return false;
  const MutexLock stream_lock(state->mutex, std::adopt_lock);
  RemoveFirst(&window->ended);
  window->bytes.fetch_sub(kStreamBytes, std::memory_order_relaxed);
  EvictChunks(state, window);
  KeepCounts(state, window);
  return true;
}

}  // namespace opscope
