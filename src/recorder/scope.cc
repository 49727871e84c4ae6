// Ends of scopes that the inline path cannot take: no room in the chunk, not the innermost, the window
// is closed, or another thread ends what this one began.
//
//   own thread, innermost       kScope, after taking the next chunk
//   own thread, not innermost   kAsync, kCrossing: it crosses the scopes inside it, so it is no part of the nesting;
//                               kScope when those are asynchronous from their begin, and so in no nesting
//   other thread                kAsync | kOtherThread in the ending thread's stream, with the index of
//                               the thread that began it; the slot stays in its owner's list, with
//                               start 0, until the owner takes it out
//   window closed               nothing; the close has written it as unfinished
// SPDX-License-Identifier: Apache-2.0

#include "base/mutex.h"
#include "base/signals_blocked.h"
#include "recorder/registry.h"
#include "recorder/stream_sink.h"

namespace opscope {

void UnlinkEndedScopes(Stream* stream) {
  stream->ended_elsewhere.exchange(0, std::memory_order_acq_rel);
  std::atomic<OpenScope*>* link = &stream->top;
  OpenScope* scope = link->load(std::memory_order_relaxed);
  while (scope != nullptr) {
    OpenScope* outer = scope->outer.load(std::memory_order_relaxed);
    if (scope->start.load(std::memory_order_acquire) == 0) {
      link->store(outer, std::memory_order_release);
    } else {
      link = &scope->outer;
    }
    scope = outer;
  }
}

namespace {

bool IsOpen(const OpenScope* scope) {
  return scope->start.load(std::memory_order_acquire) != 0;
}

void MarkEnded(OpenScope* scope) {
  scope->start.store(0, std::memory_order_release);
}

// Takes the scope out of its owner's list. REQUIRES: own thread.
bool Unlink(Stream* stream, OpenScope* scope) {
  std::atomic<OpenScope*>* link = &stream->top;
  for (OpenScope* at = link->load(std::memory_order_relaxed); at != nullptr;
       at = link->load(std::memory_order_relaxed)) {
    if (at == scope) {
      link->store(scope->outer.load(std::memory_order_relaxed), std::memory_order_release);
      return true;
    }
    link = &at->outer;
  }
  return false;
}

// Takes a scope that leaves no record in its thread's chunk out of the file's table; its thread may have
// reused the entry for another one since. REQUIRES: the mutex of the stream is held.
void ClearTableEntry(Stream* stream, uint64_t start, uint32_t depth) {
  if (depth >= stream->open_capacity) return;
  auto* entry = reinterpret_cast<PublishedWord*>(stream->open_table + depth);
  __atomic_compare_exchange_n(entry, &start, uint64_t{0}, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

// The window of the scope is closed, perhaps at this moment: the closing thread may be reading the slot, so
// wait for it. Unlink the slot in any case: a free slot must be in no list. REQUIRES: own thread.
void EndAfterClose(OpenScope* scope, uint64_t generation) {
  {
    MutexLock wait(CloseMutex(SlotOf(generation)));
  }
  if (!IsOpen(scope)) return;
  MarkEnded(scope);
  Unlink(scope->stream, scope);  // not there when the thread has let go of the stream since
}

// The scope leaves no record. REQUIRES: own thread.
void EndDropped(OpenScope* scope, uint64_t generation) {
  Stream* stream = scope->stream;
  {
    // Under the lock, so that a close counts the scope either as dropped or as unfinished.
    MutexLock lock(StateOf(stream)->mutex);
    if (stream->generation.load(std::memory_order_acquire) == generation) {
      CountDrop(stream);
      ClearTableEntry(stream, scope->start.load(std::memory_order_relaxed),
                      UnpackDepth(scope->depth_kind_flags.load(std::memory_order_relaxed)));
      MarkEnded(scope);
      Unlink(stream, scope);
      return;
    }
  }
  EndAfterClose(scope, generation);
}

void FillRecord(const OpenScope* scope, uint64_t now, Record* record) {
  const uint32_t depth_kind_flags = scope->depth_kind_flags.load(std::memory_order_acquire);
  const uint32_t origin = scope->origin.load(std::memory_order_acquire);
  record->start = scope->start.load(std::memory_order_acquire);
  record->value = now - record->start;
  UnpackScope(depth_kind_flags, origin, record);
}

// True if a nesting scope is open inside of this one. REQUIRES: own thread.
bool HasNestedScope(const Stream* stream, const OpenScope* scope) {
  const OpenScope* at = stream->top.load(std::memory_order_relaxed);
  for (; at != nullptr && at != scope; at = at->outer.load(std::memory_order_relaxed)) {
    if (UnpackKind(at->depth_kind_flags.load(std::memory_order_relaxed)) != RecordKind::kAsync) return true;
  }
  return false;
}

void EndOnOwnThread(OpenScope* scope, uint64_t now) {
  Stream* stream = scope->stream;
  const uint64_t generation = scope->generation.load(std::memory_order_relaxed);
  if (stream->generation.load(std::memory_order_acquire) != generation) {
    EndAfterClose(scope, generation);
    return;
  }
  if (stream->ended_elsewhere.load(std::memory_order_relaxed) != 0) UnlinkEndedScopes(stream);
  if (!opscope_make_room(stream, 0)) {
    EndDropped(scope, generation);
    return;
  }
  Record record;
  FillRecord(scope, now, &record);
  record.name = scope->name.load(std::memory_order_relaxed);
  record.payload = scope->payload.load(std::memory_order_relaxed);
  if (record.kind == RecordKind::kScope && HasNestedScope(stream, scope)) {
    record.kind = RecordKind::kAsync;
    record.flags |= record_flags::kCrossing;
  }
  AppendRecord(stream, record);
  MarkEnded(scope);
  if (!Unlink(stream, scope)) {  // a broken invariant: an open scope is in the list of its stream
    MutexLock lock(StateOf(stream)->mutex);
    Disarm(StateOf(stream));
  }
}

// Copy of a scope that another thread began, for the thread that ends it.
struct ForeignScope {
  Record record;
  EntryScratch entries;
  bool whole = false;
};

// REQUIRES: the scope's close mutex is held, its window is open.
void CopyFromOwner(OpenScope* scope, uint64_t now, ForeignScope* taken) {
  StreamState* owner = StateOf(scope->stream);
  MutexLock lock(owner->mutex);  // so the owner does not go on to another chunk now
  const EntrySpace space = SpaceOf(owner->stream.chunk);
  const uint32_t name = scope->name.load(std::memory_order_acquire);
  const uint32_t payload = scope->payload.load(std::memory_order_acquire);
  FillRecord(scope, now, &taken->record);
  taken->record.kind = RecordKind::kAsync;
  taken->record.flags |= record_flags::kOtherThread;
  if (taken->entries.Prepare(BytesOfEntries(space, name, payload))) {
    const CopiedEntries copied = CopyEntries(space, name, payload, owner->thread_index, &taken->entries);
    taken->record.name = copied.name;
    taken->record.payload = copied.payload;
    taken->whole = true;
  }
  MarkEnded(scope);
  owner->stream.ended_elsewhere.fetch_add(1, std::memory_order_release);
  if (!owner->held_by_owner) UnlinkEndedScopes(&owner->stream);  // the thread has ended
}

// Writes it into the calling thread's stream of the same window. False: it leaves no record.
bool AppendForeign(uint32_t slot, ForeignScope* taken) {
  if (!taken->whole) return false;
  // A signal handler that has interrupted this thread's writing must leave the stream alone.
  if (opscope_tls != nullptr && InterruptsWriting(opscope_tls)) return false;
  Stream* stream = opscope_stream_attach(slot, 0);
  if (stream == nullptr) return false;
  const EntrySpace space = taken->entries.space();
  if (!opscope_make_room(stream, BytesOfEntries(space, taken->record.name, taken->record.payload))) return false;
  StreamSink sink(StateOf(stream));
  const CopiedEntries copied = CopyEntries(space, taken->record.name, taken->record.payload, kNoThread, &sink);
  taken->record.name = copied.name;
  taken->record.payload = copied.payload;
  AppendRecord(stream, taken->record);
  return true;
}

// After its record is in the ending thread's chunk, or never will be.
void ForgetTaken(StreamState* owner, const Record& record, bool dropped) {
  MutexLock lock(owner->mutex);
  Stream* stream = &owner->stream;
  ClearTableEntry(stream, record.start, record.depth);
  if (!dropped) return;
  owner->dropped_elsewhere.fetch_add(1, std::memory_order_relaxed);
  if (stream->open_capacity != 0) __atomic_fetch_add(&OpenTableOf(stream)->dropped, 1, __ATOMIC_RELAXED);
}

enum class Foreign { kRecord, kDrop };

void EndOnOtherThread(OpenScope* scope, uint64_t now, Foreign how) {
  const uint64_t generation = scope->generation.load(std::memory_order_acquire);
  const uint32_t slot = SlotOf(generation);
  MutexLock close_lock(CloseMutex(slot));  // the window does not close meanwhile
  if (!IsOpen(scope)) return;
  if (opscope_window_generation[slot].load(std::memory_order_acquire) != generation) {
    MarkEnded(scope);
    scope->stream->ended_elsewhere.fetch_add(1, std::memory_order_release);
    return;
  }
  StreamState* owner = StateOf(scope->stream);
  ForeignScope taken;
  CopyFromOwner(scope, now, &taken);
  const Record record = taken.record;  // before its entries move
  ForgetTaken(owner, record, how == Foreign::kDrop || !AppendForeign(slot, &taken));
}

// Released without an end, for instance because an exception took the end's place in a framework.
void EndAbandoned(OpenScope* scope) {
  if (scope->owner != opscope_tls) {
    EndOnOtherThread(scope, 0, Foreign::kDrop);
    return;
  }
  EndDropped(scope, scope->generation.load(std::memory_order_relaxed));
}

}  // namespace
}  // namespace opscope

opscope::OpenScope* opscope_drop_ended(opscope::Stream* stream) {
  opscope::UnlinkEndedScopes(stream);
  return stream->top.load(std::memory_order_relaxed);
}

void opscope_close_slow(opscope::OpenScope* scope, uint64_t now) {
  const opscope::SignalsBlocked blocked;
  if (scope->owner != opscope_tls) {
    opscope::EndOnOtherThread(scope, now, opscope::Foreign::kRecord);
  } else if (opscope::IsOpen(scope)) {
    opscope::EndOnOwnThread(scope, now);
  }
}

void opscope_release_slow(opscope::OpenScope* scope) {
  if (opscope::IsOpen(scope)) {
    const opscope::SignalsBlocked blocked;
    opscope::EndAbandoned(scope);
  }
  opscope::Thread* owner = scope->owner;
  if (owner == opscope_tls) {
    scope->next_free = owner->free_slots;
    opscope::SetFreeSlots(owner, scope);
    return;
  }
  opscope::OpenScope* head = owner->freed_elsewhere.load(std::memory_order_relaxed);
  do {
    scope->next_free = head;
  } while (
      !owner->freed_elsewhere.compare_exchange_weak(head, scope, std::memory_order_release, std::memory_order_relaxed));
}
