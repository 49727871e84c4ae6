// The recorder's binary interface: what libopscope_recorder exports and the inline hot path over it.
// There is one recorder per process, however many programs, extensions and adapters use it; they
// all link the shared library and find the same state. Users want profiler.h; this header is for
// sources (src/sources/*) and for the inline parts of profiler.h. The layouts below are part of the
// ABI and change only together with kRecorderAbi.
//
// The parts
//   Window     one recording, from open to close; has a slot (0..63) while open and a generation
//              that is never reused. Several may be open at once.
//   Thread     one thread of the process; reached by the 8-byte thread-local `opscope_tls`.
//   Stream     one thread in one window: its current chunk, name cache and open scopes. Written by
//              that thread alone.
//   OpenScope  a scope that has begun and not ended. Slots belong to a Thread, are recycled by a
//              free list and never unmapped, so a late end can always look at its own slot.
//
// Invariants
//   1. Every open scope's name and side entry lie in its stream's current chunk: when a chunk is
//      full the slow path copies them into the next one. So no record refers to another chunk.
//   2. A scope's slot stays taken until ReleaseScope, even after it was closed: a framework may
//      destroy its context (which lives in the slot) later than the end of the range.
//   3. A closed window's streams have generation 0; a late end compares and does nothing.
//   4. Close order: version of the slot becomes even, then the record is published. The thread that
//      closes a window reads open slots, then record counts, then versions again, and so never
//      reports a scope as both finished and unfinished.
//   5. Hot path: no allocation, lock, system call, formatting, or read-modify-write on shared memory.
//
// Thread rule: the inline functions act on the calling thread's own Stream unless they say otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "opscope/record.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <time.h>
#endif

#define OPSCOPE_RECORDER_API __attribute__((visibility("default")))
#define OPSCOPE_UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace opscope {

inline constexpr uint32_t kRecorderAbi = 1;
inline constexpr uint32_t kMaxWindows = 64;
inline constexpr uint32_t kNameCacheEntries = 512;

struct Window;  // opaque
struct Thread;
struct Stream;

// Fields that another thread may read while the owner works are atomics; on x86 and with the orders
// used here they cost what plain ones cost.
struct alignas(64) OpenScope {
  uint64_t context[2];                  // the opener's own; torch keeps its ObserverContext here
  std::atomic<uint32_t> version{0};     // odd while the scope is open
  std::atomic<uint32_t> name{0};        // as in Record, within stream->chunk
  std::atomic<uint64_t> start{0};
  std::atomic<uint64_t> generation{0};  // of the window; compared with stream->generation
  std::atomic<uint32_t> side{0};
  std::atomic<uint32_t> shape{0};       // depth | kind << 16 | flags << 24
  std::atomic<uint32_t> origin{0};      // source | scope << 8
  Stream* stream = nullptr;
  std::atomic<OpenScope*> outer{nullptr};
  OpenScope* next_free = nullptr;
  OpenScope* sibling = nullptr;  // the same native scope in the next window of this thread
  Thread* owner = nullptr;
};

struct NameCacheEntry {
  const char* text = nullptr;
  uint32_t offset = 0;
  uint32_t chunk_sequence = 0xffffffff;
};

struct Stream {
  Record* next = nullptr;      // where the next record goes; next == limit: no room (or no chunk: at the cap)
  char* limit = nullptr;       // lowest byte used by side entries
  ChunkHeader* chunk = nullptr;  // null: nothing can be recorded, records are counted as dropped
  uint32_t count = 0;          // records in the chunk
  uint32_t chunk_sequence = 0;
  std::atomic<uint64_t> generation{0};
  std::atomic<OpenScope*> top{nullptr};
  std::atomic<uint32_t> ended_elsewhere{0};  // scopes of `top`'s list that other threads have ended
  std::atomic<uint64_t> dropped{0};          // written by the owner only
  Thread* thread = nullptr;
  Window* window = nullptr;
  Stream* next_native = nullptr;  // the next window that takes this thread's native scopes
  void* internal = nullptr;       // the recorder's own
  NameCacheEntry names[kNameCacheEntries];
};

struct Thread {
  uint64_t gate = 0;           // value of opscope_gate for which `native` is right
  Stream* native = nullptr;    // null: no open window takes this thread's native scopes
  OpenScope* free_slots = nullptr;
  std::atomic<OpenScope*> freed_elsewhere{nullptr};
  uint32_t index = 0;          // unique in the process
  uint32_t reserved = 0;
  uint64_t os_thread = 0;
  void* internal = nullptr;
  Stream* streams[kMaxWindows] = {};  // by window slot; may be of a closed window: compare generations
};

enum class AtCap : uint32_t { kStop = 0, kKeepNewest = 1 };

// Which threads' native scopes (OPSCOPE_SCOPE and the like) a window takes.
enum class NativeThreads : uint32_t {
  kAll = 0,       // every thread of the process
  kAttached = 1,  // the thread that opens the window, and those that a source has attached to it
  kNone = 2,
};

struct WindowOptions {
  uint32_t abi = kRecorderAbi;
  AtCap at_cap = AtCap::kStop;
  NativeThreads native_threads = NativeThreads::kAll;
  uint32_t reserved = 0;
  uint64_t max_bytes = uint64_t{1} << 30;  // for chunks of this window; never exceeded by more than a chunk per thread
  const char* metadata_json = nullptr;     // members of a JSON object, copied ("\"a\":1,\"b\":2"); may be null
};

struct WindowCounts {
  uint64_t recorded = 0;  // kept records
  uint64_t dropped = 0;   // recorded + dropped = issued
  uint64_t bytes = 0;     // of chunks held
  uint32_t threads = 0;
  uint32_t chunks = 0;
};

}  // namespace opscope

extern "C" {

// 0: no window takes native scopes. Changes with every open and close.
OPSCOPE_RECORDER_API extern std::atomic<uint64_t> opscope_gate;
// Generation of the open window in each slot, 0: none.
OPSCOPE_RECORDER_API extern std::atomic<uint64_t> opscope_window_generation[opscope::kMaxWindows];
OPSCOPE_RECORDER_API extern thread_local opscope::Thread* opscope_tls __attribute__((tls_model("initial-exec")));

OPSCOPE_RECORDER_API uint32_t opscope_recorder_abi();

// The calling thread's Thread, made at first use. Null when memory is short or the thread is past
// its end; callers then record nothing.
OPSCOPE_RECORDER_API opscope::Thread* opscope_thread();
// Brings thread->native up to date with opscope_gate (attaches and lets go of streams).
OPSCOPE_RECORDER_API opscope::Thread* opscope_thread_sync();
// The calling thread's stream in the open window of `slot`; attaches the thread when it has none.
// Null when the window is closed. logical_thread: the source's own number for this thread, 0: none.
OPSCOPE_RECORDER_API opscope::Stream* opscope_stream_attach(uint32_t slot, uint64_t logical_thread);
// Text that the calling thread's chunks carry as its name from now on (cut to 31 bytes).
OPSCOPE_RECORDER_API void opscope_set_thread_name(const char* name);

// Slow paths of the inline functions below; the calling thread must own the stream.
OPSCOPE_RECORDER_API opscope::OpenScope* opscope_more_slots(opscope::Thread* thread);
OPSCOPE_RECORDER_API uint32_t opscope_intern_slow(opscope::Stream* stream, const char* text, uint64_t size);
// Makes room for one record and `side_bytes` of side entries: takes the next chunk, or obeys the
// policy at the cap. False: no room, the caller counts a drop.
OPSCOPE_RECORDER_API bool opscope_make_room(opscope::Stream* stream, uint64_t side_bytes);
OPSCOPE_RECORDER_API void opscope_close_slow(opscope::OpenScope* scope, uint64_t now);
OPSCOPE_RECORDER_API void opscope_release_slow(opscope::OpenScope* scope);

// Opens a window. Null with a sentence in *error (static text) when all slots are taken or memory is
// short. Any thread; a few hundred microseconds at the first use, when the chunk pool is touched.
OPSCOPE_RECORDER_API opscope::Window* opscope_window_open(const opscope::WindowOptions* options, const char** error);
OPSCOPE_RECORDER_API uint32_t opscope_window_slot(const opscope::Window* window);
OPSCOPE_RECORDER_API uint64_t opscope_window_id(const opscope::Window* window);  // its generation
// Ends the window: from here on nothing is added. Completes the scopes that are still open as
// kUnfinished records. Any thread, also another than the one that opened it; a second call does nothing.
OPSCOPE_RECORDER_API void opscope_window_close(opscope::Window* window);
OPSCOPE_RECORDER_API opscope::WindowCounts opscope_window_counts(const opscope::Window* window);
// Adds members to the window's metadata (JSON text as above). Any thread, until the window is freed.
OPSCOPE_RECORDER_API void opscope_window_add_metadata(opscope::Window* window, const char* metadata_json);
// Calls `sink` once per block: first one block_types::kWindowInfo, then every chunk, ordered by thread
// and sequence. The bytes stay valid until opscope_window_free. REQUIRES: closed.
OPSCOPE_RECORDER_API void opscope_window_read(const opscope::Window* window,
                                              void (*sink)(void* context, uint16_t block_type, const void* data,
                                                           uint64_t bytes),
                                              void* context);
// Gives the memory back. Closes first when open. Threads that still hold a stream of it let go of it
// at their next event or at their end.
OPSCOPE_RECORDER_API void opscope_window_free(opscope::Window* window);

}  // extern "C"

namespace opscope {

// Block types of a recording (src/wire/FORMAT.md); the recorder produces these two.
namespace block_types {
inline constexpr uint16_t kWindowInfo = 1;  // JSON text: options, process, calibrations, threads with counts, metadata
inline constexpr uint16_t kRawChunk = 2;    // one chunk as described in record.h
}  // namespace block_types

// Ticks of the recorder's clock: TSC where it is invariant (checked at load), else CLOCK_MONOTONIC.
inline uint64_t ReadTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
#endif
}

// Room for `bytes` (a multiple of 8) of side entries below `limit`, leaving room for one record.
// Null at the cap. The place is the caller's until its record is published.
inline char* ReserveSide(Stream* stream, uint32_t bytes) {
  if (OPSCOPE_UNLIKELY(stream->limit - reinterpret_cast<char*>(stream->next) <
                       static_cast<int64_t>(bytes) + static_cast<int64_t>(sizeof(Record)))) {
    if (!opscope_make_room(stream, bytes)) return nullptr;
  }
  stream->limit -= bytes;
  return stream->limit;
}

inline uint32_t OffsetInChunk(const Stream* stream, const void* place) {
  return static_cast<uint32_t>(static_cast<const char*>(place) - reinterpret_cast<const char*>(stream->chunk));
}

inline NameCacheEntry* NameCacheSlot(Stream* stream, const char* text) {
  const auto bits = reinterpret_cast<uintptr_t>(text);
  return &stream->names[((bits >> 4) ^ (bits >> 13)) & (kNameCacheEntries - 1)];
}

// Offset of the name in the current chunk. The pointer must name the same bytes for as long as the
// process lives (literals, operator schemas of the running program).
inline uint32_t InternStable(Stream* stream, const char* text) {
  const NameCacheEntry* entry = NameCacheSlot(stream, text);
  if (__builtin_expect(entry->text == text && entry->chunk_sequence == stream->chunk_sequence, 1)) return entry->offset;
  return opscope_intern_slow(stream, text, std::strlen(text));
}

// As above for text that may be gone or changed after the call: a hit by pointer is verified.
inline uint32_t InternText(Stream* stream, const char* text) {
  const NameCacheEntry* entry = NameCacheSlot(stream, text);
  if (__builtin_expect(entry->text == text && entry->chunk_sequence == stream->chunk_sequence, 1)) {
    const char* known = reinterpret_cast<const char*>(stream->chunk) + entry->offset + sizeof(NameEntry);
    if (__builtin_expect(std::strcmp(known, text) == 0, 1)) return entry->offset;
  }
  return opscope_intern_slow(stream, text, std::strlen(text));
}

// Takes a slot and links it as the innermost open scope. `name` and `side` must be of the current
// chunk (intern and reserve them before, in any order: invariant 1 moves what a new chunk needs only
// for scopes that are already open, so use OpenNamedScope or re-intern when ReserveSide changed the
// chunk). Null when memory is short.
inline OpenScope* OpenScopeOn(Stream* stream, uint32_t name, uint32_t side, RecordSource source, uint8_t scope_type,
                              uint8_t flags = 0) {
  Thread* thread = stream->thread;
  OpenScope* scope = thread->free_slots;
  if (OPSCOPE_UNLIKELY(scope == nullptr)) {
    scope = opscope_more_slots(thread);
    if (scope == nullptr) return nullptr;
  }
  thread->free_slots = scope->next_free;
  OpenScope* outer = stream->top.load(std::memory_order_relaxed);
  const uint32_t depth = outer == nullptr ? 0 : (outer->shape.load(std::memory_order_relaxed) & 0xffffu) + 1;
  scope->stream = stream;
  scope->sibling = nullptr;
  scope->name.store(name, std::memory_order_release);
  scope->side.store(side, std::memory_order_release);
  scope->shape.store((depth & 0xffffu) | static_cast<uint32_t>(RecordKind::kScope) << 16 |
                         static_cast<uint32_t>(flags) << 24,
                     std::memory_order_release);
  scope->origin.store(static_cast<uint32_t>(source) | static_cast<uint32_t>(scope_type) << 8, std::memory_order_release);
  scope->generation.store(stream->generation.load(std::memory_order_relaxed), std::memory_order_release);
  scope->outer.store(outer, std::memory_order_release);
  scope->start.store(ReadTicks(), std::memory_order_release);
  scope->version.store(scope->version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  stream->top.store(scope, std::memory_order_release);
  return scope;
}

// Writes the scope's record. The slot stays taken until ReleaseScope.
// The usual case is inline: own thread, innermost, room in the chunk, window still open.
inline void CloseScope(OpenScope* scope, uint64_t now) {
  Stream* stream = scope->stream;
  const uint64_t generation = scope->generation.load(std::memory_order_relaxed);
  Record* record = stream->next;
  if (OPSCOPE_UNLIKELY(stream->thread != opscope_tls || stream->top.load(std::memory_order_relaxed) != scope ||
                       stream->generation.load(std::memory_order_relaxed) != generation ||
                       stream->limit - reinterpret_cast<char*>(record) < static_cast<int64_t>(sizeof(Record)) ||
                       stream->ended_elsewhere.load(std::memory_order_relaxed) != 0)) {
    opscope_close_slow(scope, now);
    return;
  }
  const uint32_t shape = scope->shape.load(std::memory_order_relaxed);
  const uint32_t origin = scope->origin.load(std::memory_order_relaxed);
  record->start = scope->start.load(std::memory_order_relaxed);
  record->value = now - record->start;
  record->name = scope->name.load(std::memory_order_relaxed);
  record->side = scope->side.load(std::memory_order_relaxed);
  std::memcpy(&record->depth, &shape, sizeof(shape));    // depth, kind, flags
  std::memcpy(&record->source, &origin, sizeof(origin));  // source, scope, reserved
  scope->version.store(scope->version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  stream->top.store(scope->outer.load(std::memory_order_relaxed), std::memory_order_release);
  stream->next = record + 1;
  stream->chunk->record_count.store(++stream->count, std::memory_order_release);
}

// Gives the slot back. Any thread.
inline void ReleaseScope(OpenScope* scope) {
  Thread* owner = scope->owner;
  if (OPSCOPE_UNLIKELY(owner != opscope_tls || (scope->version.load(std::memory_order_relaxed) & 1u) != 0)) {
    opscope_release_slow(scope);
    return;
  }
  scope->next_free = owner->free_slots;
  owner->free_slots = scope;
}

// Appends a finished record (counter, instant, flow, ...) whose name and side are of the current chunk.
inline void AppendRecord(Stream* stream, const Record& finished) {
  Record* record = stream->next;
  if (OPSCOPE_UNLIKELY(stream->limit - reinterpret_cast<char*>(record) < static_cast<int64_t>(sizeof(Record)))) {
    stream->dropped.store(stream->dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;  // ReserveSide or opscope_make_room before has said that there is no room
  }
  *record = finished;
  stream->next = record + 1;
  stream->chunk->record_count.store(++stream->count, std::memory_order_release);
}

}  // namespace opscope
