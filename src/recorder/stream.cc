// Streams: a thread joins and leaves windows, and goes on from one chunk to the next.
//
// The next chunk gets copies of the names and payloads of all open scopes (invariant 1 of recorder_abi.h), so that
// every chunk can be read alone. With deep stacks and long names it is larger than usual: at least half of the usual
// size is free in it.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <new>

#include "base/signals_blocked.h"
#include "recorder/calibrations.h"
#include "recorder/chunk_pool.h"
#include "recorder/chunk_supply.h"
#include "recorder/dropped_without_stream.h"
#include "recorder/memory.h"
#include "recorder/open_table.h"
#include "recorder/pages.h"
#include "recorder/registry.h"
#include "recorder/stream_sink.h"
#include "wire/block_header.h"

namespace opscope {
namespace {

// In a file a block holds the chunk and its table of open scopes.
constexpr uint64_t kLargestChunk = kMaxBlockBytes / 2;

template <typename Visit>
void ForEachOpenScope(Stream* stream, const Visit& visit) {
  for (OpenScope* scope = stream->top.load(std::memory_order_relaxed); scope != nullptr;
       scope = scope->outer.load(std::memory_order_relaxed)) {
    visit(scope);
  }
}

uint64_t BytesOfOpenScopes(Stream* stream) {
  const EntrySpace space = SpaceOf(stream->chunk);
  uint64_t bytes = 0;
  ForEachOpenScope(stream, [&](OpenScope* scope) {
    bytes += BytesOfEntries(space, scope->name.load(std::memory_order_relaxed),
                            scope->payload.load(std::memory_order_relaxed));
  });
  return bytes;
}

void MoveOpenScopes(StreamState* state, const ChunkHeader* from) {
  const EntrySpace space = SpaceOf(from);
  StreamSink sink(state);
  ForEachOpenScope(&state->stream, [&](OpenScope* scope) {
    const CopiedEntries copied = CopyEntries(space, scope->name.load(std::memory_order_relaxed),
                                             scope->payload.load(std::memory_order_relaxed), kNoThread, &sink);
    scope->name.store(copied.name, std::memory_order_release);
    scope->payload.store(copied.payload, std::memory_order_release);
    if (state->stream.open_capacity != 0) WriteMovedScope(&state->stream, scope);
  });
}

void ClearNames(StreamState* state) {
  for (NameCacheEntry& entry : state->stream.stable_names) {
    entry = {};
  }
  for (NameCacheEntry& entry : state->stream.copied_names) {
    entry = {};
  }
  state->names.Clear();
}

// The magic is left to the caller: until it is there, a chunk that lies in a file is none.
void StartChunk(StreamState* state, Window* window, const RecordingFile::Unit& taken, uint32_t size, uint32_t sequence)
    OPSCOPE_REQUIRES(state->mutex) {
  Stream& stream = state->stream;
  ChunkHeader* chunk = taken.chunk;
  ChunkHeader fresh;
  fresh.magic = 0;
  std::memcpy(static_cast<void*>(chunk), &fresh, sizeof(fresh));
  chunk->layout = StateOf(stream.thread)->chunk_layout;
  chunk->header_bytes = sizeof(ChunkHeader);
  chunk->size = size;
  chunk->sequence = sequence;
  chunk->window = window->generation;
  chunk->os_thread = state->os_thread;
  chunk->thread_index = state->thread_index;
  chunk->process = registry.process;
  chunk->logical_thread = state->logical_thread;
  chunk->dropped_before = stream.dropped.load(std::memory_order_relaxed) + state->recycled +
                          state->dropped_elsewhere.load(std::memory_order_relaxed);
  chunk->recorded_before = state->written_before;
  chunk->calibration = NewestCalibration(window);
  std::memcpy(chunk->thread_name, state->thread_name, sizeof(chunk->thread_name));
  stream.chunk = chunk;
  stream.chunk_sequence = sequence;
  stream.next = reinterpret_cast<Record*>(chunk + 1);
  stream.limit = reinterpret_cast<char*>(chunk) + size;
  stream.published = uint64_t{size} << 32;
  SetOpenTable(&stream, taken.table);
  if (taken.table != nullptr) {
    taken.table->dropped = chunk->dropped_before;
    chunk->table_distance = taken.table->chunk_at;
    RecordingFile::NameChunk(taken, chunk->thread_index, sequence);
  }
  ClearNames(state);
  StorePublished(chunk, {0, size});
}

// The stream accepts no more records. Its last chunk stays: open scopes have their names in it.
bool Stop(StreamState* state) OPSCOPE_REQUIRES(state->mutex) {
  state->stopped = true;
  Stream& stream = state->stream;
  stream.limit = reinterpret_cast<char*>(stream.next);
  stream.accepting.store(0, std::memory_order_release);
  return false;
}

uint64_t SizeOfNextChunk(const Stream* stream, uint64_t moved_bytes, uint64_t entry_bytes) {
  const uint64_t usual = DefaultChunkBytes(stream->window);
  uint64_t needed = moved_bytes + entry_bytes;
  if (stream->chunk != nullptr && RecordsInChunk(stream) == 0) {
    // Nothing was recorded since the last one was taken: a name or payload of this very record lies
    // there and will be requested again (InternAndReserve).
    needed += stream->chunk->size - OffsetInChunk(stream, stream->limit);
  }
  if (sizeof(ChunkHeader) + sizeof(Record) + needed <= usual / 2) return usual;
  return PageUp(sizeof(ChunkHeader) + sizeof(Record) + needed + usual / 2);
}

// REQUIRES: the window is open.
bool TakeNextChunk(StreamState* state, uint64_t entry_bytes) OPSCOPE_REQUIRES(state->mutex) {
  Stream& stream = state->stream;
  Window* window = stream.window;
  if (stream.ended_elsewhere.load(std::memory_order_acquire) != 0) UnlinkEndedScopes(&stream);
  const uint64_t size = entry_bytes > kLargestChunk ? kLargestChunk + 1
                                                    : SizeOfNextChunk(&stream, BytesOfOpenScopes(&stream), entry_bytes);
  if (size > kLargestChunk || (size > kChunkBytes && size > window->max_bytes)) return false;  // this record only
  if (!state->chunks.Reserve(state->chunks.size() + 1)) {
    if (window->at_cap == AtCap::kStop || state->chunks.size() < 2) return Stop(state);
    EvictOldest(state, window);  // memory is short: as at the cap
  }
  const RecordingFile::Unit taken = TakeUnderCap(state, window, static_cast<uint32_t>(size), NextCapacity(&stream));
  if (taken.chunk == nullptr) return size > kChunkBytes ? false : Stop(state);

  ChunkHeader* old = stream.chunk;
  uint32_t sequence = 0;
  if (old != nullptr) {
    const uint32_t count = RecordsInChunk(&stream);
    StorePublished(old, {count, static_cast<uint32_t>(stream.published >> 32)});
    state->written_before += count;
    sequence = old->sequence + 1;
  }
  KeepCalibrated(window);
  OpenTable* left = stream.open_capacity != 0 && taken.table == nullptr ? OpenTableOf(&stream) : nullptr;
  StartChunk(state, window, taken, static_cast<uint32_t>(size), sequence);
  if (old != nullptr) MoveOpenScopes(state, old);
  __atomic_store_n(&taken.chunk->magic, kChunkMagic, __ATOMIC_RELEASE);
  if (left != nullptr) __atomic_fetch_or(&left->flags, open_table_flags::kLeftTheFile, __ATOMIC_RELEASE);
  if (!state->chunks.Push(taken.chunk)) Disarm(state);  // Unreachable: reserved above
  if (window->at_cap == AtCap::kKeepNewest && old != nullptr) {
    while (state->chunks.size() > 1 && window->bytes.load(std::memory_order_relaxed) > window->max_bytes) {
      EvictOldest(state, window);
    }
  }
  return true;
}

StreamState* FreeStreamOf(Thread* thread) OPSCOPE_REQUIRES(registry.mutex) {
  ThreadState* owner = StateOf(thread);
  StreamState* state = owner->free_streams;
  if (state != nullptr) {
    owner->free_streams = state->next_free;
    return state;
  }
  state = MakeInMemory<StreamState>();
  if (state == nullptr) return nullptr;
  state->stream.thread = thread;
  state->stream.internal = state;
  return state;
}

// Other threads do not know the stream yet.
void JoinWindow(StreamState* state, Thread* thread, Window* window, uint64_t logical_thread) OPSCOPE_UNCHECKED_LOCKS {
  Stream& stream = state->stream;
  state->thread_index = thread->index;
  state->os_thread = thread->os_thread;
  state->logical_thread = logical_thread;
  const bool needs_number = logical_thread == 0 && window->thread_number != nullptr && !StateOf(thread)->is_track;
  if (needs_number) state->logical_thread = window->thread_number();
  std::memcpy(state->thread_name, StateOf(thread)->name, sizeof(state->thread_name));
  state->written_before = state->recycled = state->recorded = state->dropped = 0;
  state->stopped = state->sealed = state->is_deferred = false;
  state->dropped_elsewhere.store(0, std::memory_order_relaxed);
  state->chunk_bytes.store(0, std::memory_order_relaxed);
  state->held_by_owner = state->held_by_window = true;
  state->sealed_copy = nullptr;
  ClearNames(state);
  stream.dropped.store(0, std::memory_order_relaxed);
  stream.ended_elsewhere.store(0, std::memory_order_relaxed);
  stream.window = window;
  stream.next_native = nullptr;
  stream.chunk_sequence = 0;
  stream.open_capacity = 0;
  stream.open_table = nullptr;
  stream.top.store(nullptr, std::memory_order_relaxed);  // scopes may have begun here since the last window closed
  StartAccepting(&stream, window->generation);
  thread->streams[window->slot] = &stream;
}

bool AcceptsNativeScopes(const Window* window) {
  return window->native_threads != NativeThreads::kNone;
}

// Rebuilds the chain of streams that this thread's native scopes go to.
void LinkNativeStreams(Thread* thread) {
  Stream** link = &thread->native;
  for (uint32_t slot = 0; slot < kMaxWindows; ++slot) {
    Stream* stream = thread->streams[slot];
    if (stream == nullptr || stream->generation.load(std::memory_order_relaxed) == 0) continue;
    if (!AcceptsNativeScopes(stream->window)) continue;
    *link = stream;
    link = &stream->next_native;
  }
  *link = nullptr;
}

// Clears only the addresses: a signal handler may call this between a lookup's comparison and its load of the offset.
void ForgetUnloadedNames(Thread* thread) OPSCOPE_REQUIRES(registry.mutex) {
  ThreadState* state = StateOf(thread);
  if (state->module_unloads == registry.module_unloads) return;
  state->module_unloads = registry.module_unloads;
  for (Stream* stream : thread->streams) {
    if (stream == nullptr) continue;
    for (NameCacheEntry& entry : stream->stable_names)
      entry.text = nullptr;
  }
}

// First chunk, outside registry.mutex. At the cap there is none, and everything is counted as dropped.
void TakeFirstChunk(Stream* stream) {
  opscope_make_room(stream, 0);
}

}  // namespace

void GrowOpenTable(Stream* stream, uint32_t depth) {
  const SignalsBlocked blocked;
  StreamState* state = StateOf(stream);
  MutexLock lock(state->mutex);
  if (stream->generation.load(std::memory_order_relaxed) == 0 || stream->open_capacity == 0) return;
  const bool larger = depth < 0xffffu && !state->stopped && TakeNextChunk(state, 0);
  if (larger || stream->open_capacity == 0) return;
  __atomic_fetch_or(&OpenTableOf(stream)->flags, open_table_flags::kTooDeep, __ATOMIC_RELEASE);
}

StreamState* AttachLocked(Thread* thread, Window* window, uint64_t logical_thread) {
  Stream* held = thread->streams[window->slot];
  if (held != nullptr) {
    StreamState* state = StateOf(held);
    if (held->generation.load(std::memory_order_relaxed) == window->generation) {
      if (state->logical_thread == 0 && logical_thread != 0) {
        MutexLock lock(state->mutex);
        state->logical_thread = logical_thread;
        if (held->chunk != nullptr) held->chunk->logical_thread = logical_thread;
      }
      return state;
    }
    if (!ReleaseStream(thread, state)) return nullptr;  // Unreachable: a slot is given anew after the close
  }
  if (!window->streams.Reserve(window->streams.size() + 1)) return nullptr;
  StreamState* state = FreeStreamOf(thread);
  if (state == nullptr) return nullptr;
  state->mutex.AssertHeld();  // in effect: other threads do not know it yet
  // Enough for the whole pool; a recording that grows beyond it asks again.
  [[maybe_unused]] const bool reserved = state->chunks.Reserve(kPooledChunks);
  JoinWindow(state, thread, window, logical_thread);
  state->index = window->streams.size();
  window->live.fetch_add(1, std::memory_order_relaxed);
  return window->streams.Push(state) ? state : nullptr;
}

namespace {

void ReleaseRetained(StreamState* state) OPSCOPE_REQUIRES(state->mutex) {
  if (state->retained == nullptr) return;
  if (state->held_by_window && !state->retained_in_file) {
    auto* chunk = static_cast<ChunkHeader*>(state->retained);
    const auto size = static_cast<uint32_t>(state->retained_bytes);
    if (!LeaveToSnapshot(state, chunk, size)) ReturnChunk(chunk, size);
  } else {  // a file's, or its pages were given back already
    UnmapMemory(state->retained, state->retained_bytes);
  }
  state->retained = nullptr;
}

}  // namespace

bool ReleaseStream(Thread* thread, StreamState* state) {
  Stream& stream = state->stream;
  MutexLock lock(state->mutex);
  if (state->held_by_window && !state->sealed) return false;
  ReleaseRetained(state);
  ClearNames(state);  // they point into the chunk
  ForgetChunk(&stream);
  for (Stream*& held : thread->streams) {
    if (held == &stream) held = nullptr;
  }
  state->held_by_owner = false;
  RecycleWhenFree(state);
  return true;
}

void RecycleWhenFree(StreamState* state) {
  if (state->held_by_owner || state->held_by_window) return;
  Stream& stream = state->stream;
  stream.window = nullptr;
  ForgetChunk(&stream);
  state->chunks.Free();
  state->names.Free();
  ThreadState* owner = StateOf(stream.thread);
  state->next_free = owner->free_streams;
  owner->free_streams = state;
}

}  // namespace opscope

using opscope::StateOf;
using opscope::Stream;
using opscope::StreamState;
using opscope::Thread;
using opscope::Window;

bool opscope_make_room(Stream* stream, uint64_t entry_bytes) {
  if (HasRoom(stream, entry_bytes)) return true;
  if (stream->accepting.load(std::memory_order_relaxed) == 0)
    return false;  // no lock: every event at the cap comes here
  const opscope::SignalsBlocked blocked;
  StreamState* state = StateOf(stream);
  opscope::MutexLock lock(state->mutex);
  if (stream->accepting.load(std::memory_order_relaxed) == 0) return false;  // the window has closed meanwhile
  return opscope::TakeNextChunk(state, entry_bytes);
}

uint32_t opscope_intern_slow(Stream* stream, const char* text, uint64_t size) {
  StreamState* state = StateOf(stream);
  const std::string_view name(text, size);
  if (stream->chunk == nullptr) return 0;
  const char* base = reinterpret_cast<const char*>(stream->chunk);
  if (const uint32_t known = state->names.Find(base, name); known != 0) return known;
  if (!opscope_make_room(stream, opscope::NameEntryBytes(size))) return 0;
  return opscope::StreamSink(state).Intern(name);
}

Stream* opscope_stream_attach(uint32_t slot, uint64_t logical_thread) {
  if (slot >= opscope::kMaxWindows) return nullptr;
  Thread* thread = opscope_thread();
  if (thread == nullptr) return nullptr;
  const opscope::SignalsBlocked blocked;
  Stream* stream = nullptr;
  {
    opscope::MutexLock lock(opscope::registry.mutex);
    if (opscope_window_generation[slot].load(std::memory_order_relaxed) == 0) return nullptr;
    StreamState* state = opscope::AttachLocked(thread, opscope::registry.open[slot], logical_thread);
    if (state == nullptr) return nullptr;
    stream = &state->stream;
    opscope::LinkNativeStreams(thread);
  }
  if (stream->chunk == nullptr) opscope::TakeFirstChunk(stream);
  return stream;
}

Thread* opscope_thread_sync() {
  Thread* thread = opscope_thread();
  if (thread == nullptr || opscope::InterruptsWriting(thread)) return opscope::CountDropPerWindow(thread);
  const opscope::SignalsBlocked blocked;
  {
    opscope::MutexLock lock(opscope::registry.mutex);
    bool is_attached = true;
    for (Stream* stream : thread->streams) {
      if (stream != nullptr && stream->generation.load(std::memory_order_relaxed) == 0) {
        opscope::ReleaseStream(thread, StateOf(stream));
      }
    }
    for (uint32_t slot = 0; slot < opscope::kMaxWindows; ++slot) {
      if (opscope_window_generation[slot].load(std::memory_order_relaxed) == 0) continue;
      Window* window = opscope::registry.open[slot];
      if (window->native_threads != opscope::NativeThreads::kAll) continue;
      if (opscope::AttachLocked(thread, window, 0) == nullptr) is_attached = opscope::CountDropWithoutStream(window);
    }
    opscope::LinkNativeStreams(thread);
    opscope::ForgetUnloadedNames(thread);
    // A thread without a stream comes here with each event: it counts it, and tries again.
    thread->gate = is_attached ? opscope_gate.load(std::memory_order_relaxed) : 0;
  }
  for (Stream* stream = thread->native; stream != nullptr; stream = stream->next_native) {
    if (stream->chunk == nullptr) opscope::TakeFirstChunk(stream);
  }
  return thread;
}
