// The recorder's inline hot path over the layouts of recorder_abi.h, for sources (src/sources/*) and for
// the inline parts of scope.h. Users want scope.h and profiler.h.
//
// The life of a record: intern a name, reserve room for a payload if there is one (both in the same
// chunk: InternAndReserve), open a scope, end it. What the inline functions cannot do in a few loads
// and stores they leave to the opscope_* functions: the next chunk, the cap, closed windows, ends out of
// order or on another thread.
//
// Thread rule: the functions act on the calling thread's own Stream unless they say otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "opscope/recorder_abi.h"
#include "opscope/recorder_names.h"

namespace opscope {

// REQUIRES: opscope_clock_is_slow is 0.
inline uint64_t ReadFastTicks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return opscope_read_slow_clock();
#endif
}
// Ticks of the recorder's clock: TSC where it is invariant (checked at load), else CLOCK_MONOTONIC.
inline uint64_t ReadTicks() {
  if (OPSCOPE_UNLIKELY(opscope_clock_is_slow != 0)) return opscope_read_slow_clock();
  return ReadFastTicks();
}

inline uint32_t OffsetInChunk(const Stream* stream, const void* place) {
  return static_cast<uint32_t>(static_cast<const char*>(place) - reinterpret_cast<const char*>(stream->chunk));
}

// True when one record and `side_bytes` of side entries fit into the current chunk.
inline bool HasRoom(const Stream* stream, uint64_t side_bytes) {
  return stream->limit - reinterpret_cast<const char*>(stream->next) >=
         static_cast<int64_t>(side_bytes + sizeof(Record));
}

// Ask for the memory that the next few records, or their payloads, will be written to. For events that come with
// pauses, in which the processor forgets that there is a stream: else each instruction of the program that locks waits
// until what was recorded before it has found its way into the cache (a training step with shapes and memory: 10 us of
// 100). Always inline: a call of it GCC takes for one without effect, and leaves it out.
__attribute__((always_inline)) inline void FetchRecords(const Stream* stream) {
  __builtin_prefetch(stream->next + 8, 1);
}
__attribute__((always_inline)) inline void FetchSide(const Stream* stream) {
  __builtin_prefetch(stream->limit - 256, 1);
  __builtin_prefetch(stream->limit - 320, 1);
}

// Room for `bytes` (a multiple of 8) of side entries below `limit`, leaving room for one record.
// Null at the cap. The place is the caller's until its record is published. May go on to the next
// chunk: offsets that were taken before are then of the past (compare Stream::chunk_sequence, or use
// InternAndReserve).
inline char* ReserveSide(Stream* stream, uint32_t bytes) {
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, bytes))) {
    if (!opscope_make_room(stream, bytes)) return nullptr;
  }
  stream->limit -= bytes;
  stream->published -= uint64_t{bytes} << 32;
  return stream->limit;
}

// Names and room for a payload that lie in the same chunk. `intern` may intern several names, returns the offset of the
// last, and is called again when one of them, or the room, had to be taken from the next chunk. side: null at the cap.
struct NameAndRoom {
  uint32_t name = 0;
  char* side = nullptr;
};
template <typename Intern>
inline NameAndRoom InternAndReserve(Stream* stream, uint32_t side_bytes, const Intern& intern) {
  char* side = nullptr;
  uint32_t of_side = 0;  // its chunk
  for (;;) {             // ends: a chunk that follows one without records has room for all that was taken from that one
    const uint32_t sequence = stream->chunk_sequence;
    const uint32_t name = intern();
    if (__builtin_expect(side == nullptr || stream->chunk_sequence != of_side, 1)) {
      side = ReserveSide(stream, side_bytes);
      of_side = stream->chunk_sequence;
      if (OPSCOPE_UNLIKELY(side == nullptr)) return {name, nullptr};
    }
    if (__builtin_expect(of_side == sequence, 1)) return {name, side};
  }
}

// Two neighbouring 32-bit fields as one word: one access instead of two.
inline void StorePair(OpenScope* scope, size_t offset, uint32_t low, uint32_t high) {
  auto* word = reinterpret_cast<PublishedWord*>(reinterpret_cast<char*>(scope) + offset);
  __atomic_store_n(word, uint64_t{low} | uint64_t{high} << 32, __ATOMIC_RELEASE);
}
inline uint64_t LoadPair(const OpenScope* scope, size_t offset) {
  const auto* word = reinterpret_cast<const PublishedWord*>(reinterpret_cast<const char*>(scope) + offset);
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

// What Thread::free_slots holds while its thread is writing: an odd number that tells where on the stack
// the writing code is. Code of the same thread that finds it is a signal handler further down the stack;
// further up, the mark was left behind by a handler that jumped out of the writing code (siglongjmp).
inline OpenScope* WritingMark() {
#if defined(__x86_64__)
  OpenScope* mark;
  __asm__("lea 1(%%rsp), %0" : "=r"(mark));
  return mark;
#else
  return reinterpret_cast<OpenScope*>(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) | 1u);
#endif
}
inline bool IsSlot(const OpenScope* slot) {
  return (reinterpret_cast<uintptr_t>(slot) & 1u) == 0;
}
inline void SetFreeSlots(Thread* thread, OpenScope* slots) {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // costs nothing; keeps what is written on its side
  thread->free_slots = slots;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// While this lives, signal handlers of the calling thread are refused. For code that writes to a stream
// outside OpenScopeOn and EndScope. REQUIRES: the stream is the calling thread's own.
class Writing {
 public:
  explicit Writing(Stream* stream) : thread_(opscope_tls), slots_(thread_->free_slots) {
    if (OPSCOPE_UNLIKELY(!IsSlot(slots_) && slots_ != NoSlot())) {
      allowed_ = opscope_may_write(stream);
      slots_ = thread_->free_slots;
    }
    if (allowed_) SetFreeSlots(thread_, WritingMark());
  }
  ~Writing() {
    if (allowed_) SetFreeSlots(thread_, slots_);
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  // False: this is a handler, what it wants to write is counted as dropped.
  bool allowed() const { return allowed_; }

 private:
  Thread* thread_;
  OpenScope* slots_;
  bool allowed_ = true;
};

inline OpenTable* OpenTableOf(Stream* stream) {
  return reinterpret_cast<OpenTable*>(stream->open_table) - 1;
}

// A record that will not be. REQUIRES: the calling thread owns the stream.
__attribute__((noinline)) inline void CountDrop(Stream* stream) {
  stream->dropped.store(stream->dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (stream->open_capacity != 0) __atomic_fetch_add(&OpenTableOf(stream)->dropped, 1, __ATOMIC_RELAXED);
}

// An event that begins on a stream which takes none: counted, unless its window has closed. At the cap all come here.
__attribute__((noinline)) inline OpenScope* Refuse(Stream* stream) {
  // In this order: a close ends the generation before the taking.
  if (stream->taking.load(std::memory_order_acquire) != 0 || stream->generation.load() == 0) return nullptr;
  const Writing writing(stream);
  if (writing.allowed()) CountDrop(stream);
  return nullptr;
}

// The entries of an open scope have become others (an argument was added).
inline void NoteNewEntries(Stream* stream, const OpenScope* scope) {
  const uint32_t depth = scope->shape.load(std::memory_order_relaxed) & 0xffffu;
  if (depth >= stream->open_capacity) return;
  auto* words = reinterpret_cast<PublishedWord*>(stream->open_table + depth);
  __atomic_store_n(words + 1, LoadPair(scope, offsetof(OpenScope, name)), __ATOMIC_RELEASE);
}

// Offsets in the current chunk.
struct ScopeEntries {
  uint32_t name = 0;
  uint32_t side = 0;
};

// Fills the slot of a scope inside of `outer`, StartScope makes it the innermost. REQUIRES for both: the thread counts
// as writing.
__attribute__((always_inline)) inline void FillScope(Stream* stream, OpenScope* scope, OpenScope* outer,
                                                     ScopeEntries entries, uint64_t generation, RecordSource source,
                                                     uint8_t scope_type, uint8_t flags, RecordKind kind) {
  uint32_t depth = 0;
  if (outer != nullptr) {
    depth = outer->shape.load(std::memory_order_relaxed) & 0xffffu;
    if (__builtin_expect(depth != 0xffffu, 1)) ++depth;
  }
  scope->stream = stream;
  StorePair(scope, offsetof(OpenScope, name), entries.name, entries.side);
  StorePair(scope, offsetof(OpenScope, shape),
            depth | static_cast<uint32_t>(kind) << 16 | static_cast<uint32_t>(flags) << 24,
            static_cast<uint32_t>(source) | static_cast<uint32_t>(scope_type) << 8);
  scope->generation.store(generation, std::memory_order_release);
  scope->outer.store(outer, std::memory_order_release);
}
inline void StartScope(Stream* stream, OpenScope* scope, uint64_t now) {
  scope->start.store(now, std::memory_order_release);
  stream->top.store(scope, std::memory_order_release);
}

// Takes a slot and links it as the innermost open scope. `write` makes the entries: it interns the name
// and writes the payload (InternAndReserve) and returns their offsets. Null at the cap, when memory is short, or in a
// signal handler that interrupts this thread's writing; counted as dropped. kind: kScope, or kAsync for what is known
// from its beginning to be no part of the nesting. kMayDecline: where `write` has no entries (name 0) nothing is done
// and counted, and the answer is null; so, too, where a slot would have to be asked for or the stream takes nothing.
template <bool kMayDecline = false, typename Write>
__attribute__((always_inline)) inline OpenScope* OpenScopeOn(Stream* stream, const Write& write, RecordSource source,
                                                             uint8_t scope_type, uint8_t flags = 0,
                                                             RecordKind kind = RecordKind::kScope) {
  const uint64_t generation = stream->taking.load(std::memory_order_relaxed);
  if (OPSCOPE_UNLIKELY(generation == 0)) return kMayDecline ? nullptr : Refuse(stream);
  Thread* thread = opscope_tls;  // not stream->thread: one load less before the clock can be read
  OpenScope* scope = thread->free_slots;
  if (OPSCOPE_UNLIKELY(!IsSlot(scope))) {
    if (kMayDecline) return nullptr;
    scope = opscope_take_slot(stream);
    if (scope == nullptr) return nullptr;
  }
  SetFreeSlots(thread, WritingMark());
  const ScopeEntries entries = write();
  if (kMayDecline && OPSCOPE_UNLIKELY(entries.name == 0)) {
    SetFreeSlots(thread, scope);
    return nullptr;
  }
  OpenScope* outer = stream->top.load(std::memory_order_relaxed);
  if (outer != nullptr && OPSCOPE_UNLIKELY(outer->start.load(std::memory_order_relaxed) == 0)) {
    outer = opscope_drop_ended(stream);
  }
  FillScope(stream, scope, outer, entries, generation, source, scope_type, flags, kind);
  StartScope(stream, scope, ReadTicks());
  if (OPSCOPE_UNLIKELY(stream->open_table != nullptr)) opscope_note_open_scope(stream);
  SetFreeSlots(thread, scope->next_free);
  return scope;
}

// The same for entries that are in the current chunk already.
inline OpenScope* OpenScopeOn(Stream* stream, uint32_t name, uint32_t side, RecordSource source, uint8_t scope_type,
                              uint8_t flags = 0, RecordKind kind = RecordKind::kScope) {
  return OpenScopeOn(stream, [=] { return ScopeEntries{name, side}; }, source, scope_type, flags, kind);
}

inline uint32_t RecordsInChunk(const Stream* stream) {
  return static_cast<uint32_t>(stream->published);
}

// Publishes the record at `record`, which is stream->next.
inline void PublishNext(Stream* stream, Record* record) {
  stream->next = record + 1;
  const uint64_t published = stream->published + 1;
  stream->published = published;
  StorePublished(stream->chunk, {static_cast<uint32_t>(published), static_cast<uint32_t>(published >> 32)});
}

// The usual end of a scope of the calling thread: innermost, room in the chunk, window still open. False:
// nothing was done, opscope_close_slow has to.
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
  const uint64_t entries = LoadPair(scope, offsetof(OpenScope, name));  // name, side
  const uint64_t tail = LoadPair(scope, offsetof(OpenScope, shape));    // depth, kind, flags, source, scope, reserved
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

// Writes the scope's record. The slot stays taken until ReleaseScope. Any thread: one that does not own
// the scope touches nothing but its owner.
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

// Gives the slot back. Any thread.
inline void ReleaseScope(OpenScope* scope) {
  Thread* owner = scope->owner;
  if (OPSCOPE_UNLIKELY(owner != opscope_tls || scope->start.load(std::memory_order_relaxed) != 0)) {
    opscope_release_slow(scope);
    return;
  }
  scope->next_free = owner->free_slots;
  SetFreeSlots(owner, scope);
}

// Apart and called last, so that the usual way needs no room on the stack.
__attribute__((noinline, cold)) inline void EndScopeElsewhere(OpenScope* scope, uint64_t now) {
  opscope_close_slow(scope, now);
  opscope_release_slow(scope);
}
__attribute__((noinline, cold)) inline void EndScopeUnusually(OpenScope* scope, uint64_t now, OpenScope* slots) {
  opscope_close_slow(scope, now);
  SetFreeSlots(scope->owner, slots);
  opscope_release_slow(scope);
}

// CloseScope and ReleaseScope in one. Any thread.
inline void EndScope(OpenScope* scope, uint64_t now) {
  Thread* thread = opscope_tls;
  if (OPSCOPE_UNLIKELY(scope->owner != thread)) return EndScopeElsewhere(scope, now);
  OpenScope* slots = thread->free_slots;
  SetFreeSlots(thread, WritingMark());
  if (OPSCOPE_UNLIKELY(!TryCloseScope(scope, now))) return EndScopeUnusually(scope, now, slots);
  scope->next_free = slots;
  SetFreeSlots(thread, scope);
}

// Appends a finished record (counter, instant, flow, ...) whose name and side are of the current chunk.
// Make sure of the room before interning (ReserveSide does, else opscope_make_room(stream, 0)): without
// room the record is counted as dropped.
inline void AppendRecord(Stream* stream, const Record& finished) {
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, 0))) {
    CountDrop(stream);
    return;
  }
  Record* record = stream->next;
  *record = finished;
  PublishNext(stream, record);
}

// The same with a name, and a payload of `side_bytes` (a multiple of 8; 0: none) that `fill(char* place)` writes: for
// tracks, and for others while they count as writing. At the cap the record is counted as dropped.
template <typename Intern, typename Fill>
inline void AppendNamed(Stream* stream, Record record, const Intern& intern, uint32_t side_bytes, const Fill& fill) {
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, 0)) && !opscope_make_room(stream, 0)) return CountDrop(stream);
  const NameAndRoom entries = InternAndReserve(stream, side_bytes, intern);
  if (OPSCOPE_UNLIKELY(entries.side == nullptr)) return CountDrop(stream);
  record.name = entries.name;
  if (side_bytes != 0) {
    fill(entries.side);
    record.side = OffsetInChunk(stream, entries.side);
  }
  AppendRecord(stream, record);
}

}  // namespace opscope
