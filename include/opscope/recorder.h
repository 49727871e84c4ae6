// The recorder's inline hot path over the layouts of recorder_abi.h. Sources (src/sources) call it
// directly, scope.h builds its scopes on it; programs use scope.h and profiler.h.
//
// The life of one record:
//
//   Stream* stream = opscope_stream_attach(slot, 0);                    // once per thread and window
//   OpenScope* scope = OpenScopeOn(stream, [&] {                        // begin
//     const auto entries = InternAndReserve(stream, bytes, [&] { return InternStable(stream, "aten::add"); });
//     if (entries.payload != nullptr) FillPayload(entries.payload);
//     return ScopeEntries{entries.name, entries.payload ? OffsetInChunk(stream, entries.payload) : 0};
//   }, RecordSource::kTorch, 0);
//   ...
//   if (scope != nullptr) EndScope(scope, ReadTicks());                 // writes the 32-byte record
//
// An inline function handles the case of a few loads and stores. It calls an opscope_* function, the
// slow path, for a full chunk, the cap, a closed window, an end out of order, and an end on another
// thread.
//
// Cost: one clock read for the begin and one for the end, 32 bytes per scope, and a name once per
// chunk. No allocation, no lock, no system call, except on a slow path.
//
// Thread rule: a function acts on the calling thread's own Stream unless it says otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "opscope/recorder_abi.h"
#include "opscope/recorder_names.h"
#include "opscope/recorder_writing.h"

namespace opscope {

// One TSC read, without the check for a slow clock. REQUIRES: opscope_clock_is_slow is 0.
inline uint64_t ReadFastTicks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return opscope_read_slow_clock();
#endif
}
// Ticks of the recorder's clock: the TSC where it is invariant (checked at load), else
// CLOCK_MONOTONIC in nanoseconds. Calibrations turn ticks into time.
inline uint64_t ReadTicks() {
  if (OPSCOPE_UNLIKELY(opscope_clock_is_slow != 0)) return opscope_read_slow_clock();
  return ReadFastTicks();
}

// Offset in bytes of an address inside the stream's current chunk: what Record::name and Record::payload
// hold. REQUIRES: the address lies in that chunk.
inline uint32_t OffsetInChunk(const Stream* stream, const void* address) {
  return static_cast<uint32_t>(static_cast<const char*>(address) - reinterpret_cast<const char*>(stream->chunk));
}

// True if one record and `entry_bytes` of entries fit between the last record and the lowest entry of
// the chunk. Records grow upward and entries downward (record.h), so one subtraction decides. False
// too for a stream without a chunk, where next == limit.
inline bool HasRoom(const Stream* stream, uint64_t entry_bytes) {
  return stream->limit - reinterpret_cast<const char*>(stream->next) >=
         static_cast<int64_t>(entry_bytes + sizeof(Record));
}

// Prefetches the cache lines of the next records (PrefetchRecords) or payloads (PrefetchEntries). Worth it for
// events with pauses between them: the program has evicted the stream from the cache by then, and the
// next locked instruction of the program waits until the recorder's stores have reached the cache. In a
// training step with shapes and memory this saves 10 of 100 us. GCC removes an out-of-line call as
// side-effect free; keep them inline.
__attribute__((always_inline)) inline void PrefetchRecords(const Stream* stream) {
  __builtin_prefetch(stream->next + 8, 1);
}
__attribute__((always_inline)) inline void PrefetchEntries(const Stream* stream) {
  __builtin_prefetch(stream->limit - 256, 1);
  __builtin_prefetch(stream->limit - 320, 1);
}

// Reserves `bytes` (a multiple of 8) for entries below `limit` and keeps room for one record. Null at
// the cap. The caller owns the bytes until it publishes the record. May take the next chunk, which
// invalidates offsets returned earlier: compare Stream::chunk_sequence, or use InternAndReserve.
inline char* ReserveEntry(Stream* stream, uint32_t bytes) {
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, bytes))) {
    if (!opscope_make_room(stream, bytes)) return nullptr;
  }
  stream->limit -= bytes;
  stream->published -= uint64_t{bytes} << 32;
  return stream->limit;
}

// A name and room for a payload in the same chunk.
struct NameAndRoom {
  // Offset of the name, as Record::name; 0: none.
  uint32_t name = 0;
  // First byte of the reserved room; null at the cap.
  char* payload = nullptr;
};
// Interns a name and reserves `entry_bytes` (a multiple of 8) such that both lie in the current chunk.
// `intern` may intern several names and returns the offset of the last. It runs again if taking the
// next chunk invalidated its result.
template <typename Intern>
inline NameAndRoom InternAndReserve(Stream* stream, uint32_t entry_bytes, const Intern& intern) {
  char* payload = nullptr;
  // Sequence number of the chunk that `payload` lies in.
  uint32_t payload_chunk = 0;
  // The loop ends: a chunk that follows one without records has room for everything that was reserved in that one
  // (SizeOfNextChunk, src/recorder/stream.cc).
  for (;;) {
    const uint32_t sequence = stream->chunk_sequence;
    const uint32_t name = intern();
    if (OPSCOPE_LIKELY(payload == nullptr || stream->chunk_sequence != payload_chunk)) {
      payload = ReserveEntry(stream, entry_bytes);
      payload_chunk = stream->chunk_sequence;
      if (OPSCOPE_UNLIKELY(payload == nullptr)) return {name, nullptr};
    }
    if (OPSCOPE_LIKELY(payload_chunk == sequence)) return {name, payload};
  }
}

// Two neighbouring 32-bit fields as one 64-bit access: a dump on another thread never sees one field
// without the other, and the hot path saves a store. `offset`: of the lower field, a multiple of 8.
inline void StorePair(OpenScope* scope, size_t offset, uint32_t low, uint32_t high) {
  auto* word = reinterpret_cast<PublishedWord*>(reinterpret_cast<char*>(scope) + offset);
  __atomic_store_n(word, uint64_t{low} | uint64_t{high} << 32, __ATOMIC_RELEASE);
}
inline uint64_t LoadPair(const OpenScope* scope, size_t offset) {
  const auto* word = reinterpret_cast<const PublishedWord*>(reinterpret_cast<const char*>(scope) + offset);
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

// Updates the open table after an open scope got other entries (an argument was added). No effect if the
// stream has no open table, or the scope is deeper than it.
inline void UpdateOpenEntry(Stream* stream, const OpenScope* scope) {
  const uint32_t depth = UnpackDepth(scope->depth_kind_flags.load(std::memory_order_relaxed));
  if (depth >= stream->open_capacity) return;
  auto* words = reinterpret_cast<PublishedWord*>(stream->open_table + depth);
  __atomic_store_n(words + 1, LoadPair(scope, offsetof(OpenScope, name)), __ATOMIC_RELEASE);
}

// Offsets of a name and a payload in the current chunk; 0: none.
struct ScopeEntries {
  uint32_t name = 0;
  uint32_t payload = 0;
};

// FillScope fills the slot of a scope inside `outer`; StartScope then makes it the innermost open scope
// with the begin `now` in ticks. They are two functions because the clock is read between them: the scope
// does not contain its own begin. A dump may read the slot meanwhile, hence the release stores. REQUIRES
// for both: the thread counts as writing (WritingMark).
__attribute__((always_inline)) inline void FillScope(Stream* stream, OpenScope* scope, OpenScope* outer,
                                                     ScopeEntries entries, uint64_t generation, RecordSource source,
                                                     uint8_t scope_type, uint8_t flags, RecordKind kind) {
  uint32_t depth = 0;
  if (outer != nullptr) {
    depth = UnpackDepth(outer->depth_kind_flags.load(std::memory_order_relaxed));
    if (OPSCOPE_LIKELY(depth != 0xffffu)) ++depth;
  }
  scope->stream = stream;
  StorePair(scope, offsetof(OpenScope, name), entries.name, entries.payload);
  StorePair(scope, offsetof(OpenScope, depth_kind_flags),
            depth | static_cast<uint32_t>(kind) << 16 | static_cast<uint32_t>(flags) << 24,
            static_cast<uint32_t>(source) | static_cast<uint32_t>(scope_type) << 8);
  scope->generation.store(generation, std::memory_order_release);
  scope->outer.store(outer, std::memory_order_release);
}
inline void StartScope(Stream* stream, OpenScope* scope, uint64_t now) {
  scope->start.store(now, std::memory_order_release);
  stream->top.store(scope, std::memory_order_release);
}

// Begins a scope: takes a slot and links it as the innermost open scope. `write` makes the entries:
// it interns the name, writes the payload (InternAndReserve), and returns their offsets. Returns null
// at the cap, on an allocation failure, and in a signal handler that interrupts this thread's
// writing; the scope then counts as dropped.
//   source, scope_type   Record::source and Record::scope of the record
//   flags                record_flags
//   kind                 kScope, or kAsync for a scope that is outside of the nesting from its begin
//   kTryOnly             `write` may return no name. Then, and if a slow path would be needed, OpenScopeOn
//                        does nothing, counts nothing and returns null: the caller tries again without
//                        kTryOnly
template <bool kTryOnly = false, typename Write>
__attribute__((always_inline)) inline OpenScope* OpenScopeOn(Stream* stream, const Write& write, RecordSource source,
                                                             uint8_t scope_type, uint8_t flags = 0,
                                                             RecordKind kind = RecordKind::kScope) {
  const uint64_t generation = stream->accepting.load(std::memory_order_relaxed);
  if (OPSCOPE_UNLIKELY(generation == 0)) return kTryOnly ? nullptr : DropEvent(stream);
  Thread* thread = opscope_tls;  // not stream->thread: one load less before the clock can be read
  OpenScope* scope = thread->free_slots;
  if (OPSCOPE_UNLIKELY(!IsSlot(scope))) {
    if (kTryOnly) return nullptr;
    scope = opscope_take_slot(stream);
    if (scope == nullptr) return nullptr;
  }
  SetFreeSlots(thread, WritingMark());
  const ScopeEntries entries = write();
  if (kTryOnly && OPSCOPE_UNLIKELY(entries.name == 0)) {
    SetFreeSlots(thread, scope);
    return nullptr;
  }
  OpenScope* outer = stream->top.load(std::memory_order_relaxed);
  if (outer != nullptr && OPSCOPE_UNLIKELY(outer->start.load(std::memory_order_relaxed) == 0)) {
    outer = opscope_drop_ended(stream);
  }
  FillScope(stream, scope, outer, entries, generation, source, scope_type, flags, kind);
  StartScope(stream, scope, ReadTicks());
  if (OPSCOPE_UNLIKELY(stream->open_table != nullptr)) opscope_write_open_scope(stream);
  SetFreeSlots(thread, scope->next_free);
  return scope;
}

// The same for entries that the current chunk already has. payload: 0 for none.
inline OpenScope* OpenScopeOn(Stream* stream, uint32_t name, uint32_t payload, RecordSource source, uint8_t scope_type,
                              uint8_t flags = 0, RecordKind kind = RecordKind::kScope) {
  return OpenScopeOn(stream, [=] { return ScopeEntries{name, payload}; }, source, scope_type, flags, kind);
}

// Records that the current chunk has; the owner's copy of ChunkHeader::record_count, which it reads
// without an atomic operation.
inline uint32_t RecordsInChunk(const Stream* stream) {
  return static_cast<uint32_t>(stream->published);
}

// Publishes `record`, which is stream->next, with one release store. REQUIRES: the record is
// complete.
inline void PublishNext(Stream* stream, Record* record) {
  stream->next = record + 1;
  const uint64_t published = stream->published + 1;
  stream->published = published;
  StorePublished(stream->chunk, {static_cast<uint32_t>(published), static_cast<uint32_t>(published >> 32)});
}

// Fast path of an end: the scope is the innermost one of the calling thread, the chunk has room, the
// window is open. False: it did nothing, the caller must call opscope_close_slow.
__attribute__((always_inline)) inline bool TryCloseScope(OpenScope* scope, uint64_t now) {
  Stream* stream = scope->stream;
  if (OPSCOPE_UNLIKELY(stream->top.load(std::memory_order_relaxed) != scope ||
                       stream->generation.load(std::memory_order_relaxed) !=
                           scope->generation.load(std::memory_order_relaxed) ||
                       !HasRoom(stream, 0))) {
    return false;
  }
  Record* record = stream->next;
  const uint64_t start = scope->start.load(std::memory_order_relaxed);
  const uint64_t entries = LoadPair(scope, offsetof(OpenScope, name));  // name, payload
  const uint64_t tail =
      LoadPair(scope, offsetof(OpenScope, depth_kind_flags));  // depth, kind, flags, source, scope, reserved
  OpenScope* outer = scope->outer.load(std::memory_order_relaxed);
  record->start = start;
  record->value = now - start;
  std::memcpy(reinterpret_cast<char*>(record) + offsetof(Record, name), &entries, sizeof(entries));
  std::memcpy(reinterpret_cast<char*>(record) + offsetof(Record, depth), &tail, sizeof(tail));
  PublishNext(stream, record);
  scope->start.store(0, std::memory_order_release);
  stream->top.store(outer, std::memory_order_release);
  return true;
}

// Writes the scope's record, which ends at `now` in ticks. The slot stays taken until ReleaseScope, for
// frameworks that keep their context in it. A scope whose window has closed is left alone: the close has
// written it as unfinished. Any thread: a thread that does not own the scope reads only its `owner` here and
// takes the slow path.
inline void CloseScope(OpenScope* scope, uint64_t now) {
  Thread* thread = opscope_tls;
  if (OPSCOPE_UNLIKELY(scope->owner != thread)) {
    opscope_close_slow(scope, now);
    return;
  }
  OpenScope* slots = thread->free_slots;
  SetFreeSlots(thread, WritingMark());
  if (OPSCOPE_UNLIKELY(!TryCloseScope(scope, now))) opscope_close_slow(scope, now);
  SetFreeSlots(thread, slots);
}

// Returns the slot to its owner's free list; drops the scope if it is still open. Any thread, once
// per scope.
inline void ReleaseScope(OpenScope* scope) {
  Thread* owner = scope->owner;
  if (OPSCOPE_UNLIKELY(owner != opscope_tls || scope->start.load(std::memory_order_relaxed) != 0)) {
    opscope_release_slow(scope);
    return;
  }
  scope->next_free = owner->free_slots;
  SetFreeSlots(owner, scope);
}

// Slow ends as tail calls, so that the fast path of EndScope needs no stack frame: the compiler then
// saves no registers for it. slots: Thread::free_slots as it was before the WritingMark.
__attribute__((noinline, cold)) inline void EndScopeFromOtherThread(OpenScope* scope, uint64_t now) {
  opscope_close_slow(scope, now);
  opscope_release_slow(scope);
}
__attribute__((noinline, cold)) inline void EndScopeSlow(OpenScope* scope, uint64_t now, OpenScope* slots) {
  opscope_close_slow(scope, now);
  SetFreeSlots(scope->owner, slots);
  opscope_release_slow(scope);
}

// CloseScope and ReleaseScope in one, the usual end of a scope. Any thread, once per scope. The caller
// must not touch the scope afterwards: the next begin reuses its slot.
inline void EndScope(OpenScope* scope, uint64_t now) {
  Thread* thread = opscope_tls;
  if (OPSCOPE_UNLIKELY(scope->owner != thread)) return EndScopeFromOtherThread(scope, now);
  OpenScope* slots = thread->free_slots;
  SetFreeSlots(thread, WritingMark());
  if (OPSCOPE_UNLIKELY(!TryCloseScope(scope, now))) return EndScopeSlow(scope, now, slots);
  scope->next_free = slots;
  SetFreeSlots(thread, scope);
}

// Appends a finished record (counter, instant, flow, ...) whose name and payload lie in the current
// chunk. REQUIRES: the thread counts as writing (Writing), or the stream is a track. Without room the record counts as
// dropped. Reserve the room before interning: ReserveEntry does, else opscope_make_room(stream, 0).
inline void AppendRecord(Stream* stream, const Record& finished) {
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, 0))) {
    CountDrop(stream);
    return;
  }
  Record* record = stream->next;
  *record = finished;
  PublishNext(stream, record);
}

// The same, with a name and a payload of `entry_bytes` (a multiple of 8; 0: none) that `fill(char*
// address)` writes. For tracks, and for threads that count as writing. At the cap the record counts
// as dropped.
template <typename Intern, typename Fill>
inline void AppendNamed(Stream* stream, Record record, const Intern& intern, uint32_t entry_bytes, const Fill& fill) {
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, 0)) && !opscope_make_room(stream, 0)) return CountDrop(stream);
  const NameAndRoom entries = InternAndReserve(stream, entry_bytes, intern);
  if (OPSCOPE_UNLIKELY(entries.payload == nullptr)) return CountDrop(stream);
  record.name = entries.name;
  if (entry_bytes != 0) {
    fill(entries.payload);
    record.payload = OffsetInChunk(stream, entries.payload);
  }
  AppendRecord(stream, record);
}

}  // namespace opscope
