// Threads: made at their first event, noticed at their end by a pthread key, reused for later threads under
// a new index.
//
// A thread_local object with a destructor would be simpler, but its registration calls malloc, which a
// signal handler in malloc must not reach. Slots of open scopes come in blocks of 64 and are never freed: a
// pointer to one stays readable for late ends. A slot that another thread releases goes to a lock-free
// list, `freed_elsewhere`, which the owner takes over as a whole when its own list is empty.
// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "base/signals_blocked.h"
#include "recorder/dropped_without_stream.h"
#include "recorder/ended_threads.h"
#include "recorder/memory.h"
#include "recorder/registry.h"

namespace opscope {
namespace {

// Value of the pthread key once the thread's end was seen: later events of the same thread (from
// other libraries' destructors) must not make it a new Thread, whose end would go unnoticed.
char end_was_seen;

constexpr uint32_t kSlotsPerBlock = 64;

uint64_t CountFreeSlots(Thread* thread) {
  uint64_t count = 0;
  for (OpenScope* slot = thread->free_slots; IsSlot(slot); slot = slot->next_free)
    ++count;
  OpenScope* slot = thread->freed_elsewhere.load(std::memory_order_acquire);
  for (; slot != nullptr; slot = slot->next_free)
    ++count;
  return count;
}

// A Thread to use again. All its scopes must be released: OpenScope::owner identifies the thread of an open scope.
ThreadState* TakeEndedThread() OPSCOPE_REQUIRES(registry.mutex) {
  for (ThreadState** link = &registry.ended; *link != nullptr; link = &(*link)->next) {
    ThreadState* state = *link;
    if (CountFreeSlots(&state->thread) != state->slot_blocks.size() * kSlotsPerBlock) continue;
    *link = state->next;
    state->next = nullptr;
    return state;
  }
  return nullptr;
}

void ThreadEnds(void* value) {
  const SignalsBlocked blocked;
  pthread_setspecific(registry.thread_key, &end_was_seen);  // glibc calls again, a few times
  if (value == &end_was_seen) return;
  MutexLock lock(registry.mutex);
  RetireThread(static_cast<ThreadState*>(value));
  opscope_tls = nullptr;
}

Thread* MakeThread() {
  const SignalsBlocked blocked;
  MutexLock lock(registry.mutex);
  if (!MakeThreadKey() || pthread_getspecific(registry.thread_key) != nullptr) return nullptr;
  ThreadState* state = NewThread(static_cast<uint64_t>(syscall(SYS_gettid)));
  if (state == nullptr) return nullptr;
  if (pthread_setspecific(registry.thread_key, state) != 0) {
    RetireThread(state);
    return nullptr;
  }
  prctl(PR_GET_NAME, state->name);  // 16 bytes at most
  opscope_tls = &state->thread;
  return &state->thread;
}

// Takes scopes that other threads have ended out of this thread's lists.
void UnlinkEndedElsewhere(Thread* thread) {
  for (Stream* stream : thread->streams) {
    if (stream != nullptr && stream->ended_elsewhere.load(std::memory_order_acquire) != 0) UnlinkEndedScopes(stream);
  }
}

// Null when memory is short.
OpenScope* MakeSlots(Thread* thread) {
  struct Block {
    OpenScope slots[kSlotsPerBlock];
  };
  ThreadState* state = StateOf(thread);
  if (!state->slot_blocks.Reserve(state->slot_blocks.size() + 1)) return nullptr;
  auto* block = MakeInMemory<Block>();
  if (block == nullptr || !state->slot_blocks.Push(block->slots)) return nullptr;
  for (uint32_t i = 0; i < kSlotsPerBlock; ++i) {
    block->slots[i].owner = thread;
    block->slots[i].next_free = i + 1 < kSlotsPerBlock ? &block->slots[i + 1] : NoSlot();
  }
  return block->slots;
}

// The list of slots that other threads gave back, ended as the thread's own list is. Null: none.
OpenScope* TakeFreedElsewhere(Thread* thread) {
  OpenScope* freed = thread->freed_elsewhere.exchange(nullptr, std::memory_order_acquire);
  if (freed == nullptr) return nullptr;
  OpenScope* last = freed;
  while (last->next_free != nullptr)
    last = last->next_free;
  last->next_free = NoSlot();
  UnlinkEndedElsewhere(thread);  // a slot may be used again only when no list holds it any more
  return freed;
}

// True if this call has interrupted the code that set the mark, false if a handler has jumped out of that
// code. A handler's frames lie below the code that it interrupted, and the kernel's
// own frame, more than kSignalFrame, between them; on a signal stack addresses prove nothing.
// frame: of the outermost function of this library, to leave the smallest possible distance to the handler.
bool IsInterrupted(const OpenScope* mark, const void* frame) {
  constexpr uintptr_t kSignalFrame = 1024;
  const uintptr_t writer = reinterpret_cast<uintptr_t>(mark) - 1;
  const uintptr_t here = reinterpret_cast<uintptr_t>(frame);
  stack_t signal_stack{};
  if (sigaltstack(nullptr, &signal_stack) == 0 && (signal_stack.ss_flags & SS_DISABLE) == 0) {
    const uintptr_t from = reinterpret_cast<uintptr_t>(signal_stack.ss_sp);
    const auto is_on_it = [&](uintptr_t address) { return address >= from && address < from + signal_stack.ss_size; };
    if (is_on_it(here) != is_on_it(writer)) return is_on_it(here);
  }
  return here + kSignalFrame < writer;
}

// A handler has jumped out of this thread's writing (siglongjmp). What it was about to write is lost; a
// record may be written and not be published yet. Its slots are given up: which ones are free is not known.
void RecoverFromJump(Thread* thread) {
  for (Stream* stream : thread->streams) {
    if (stream == nullptr) continue;
    const StreamState* state = StateOf(stream);
    if (stream->chunk == nullptr || state->stopped) continue;
    const auto count = static_cast<uint32_t>(stream->next - reinterpret_cast<Record*>(stream->chunk + 1));
    const uint32_t entries_begin = OffsetInChunk(stream, stream->limit);
    stream->published = uint64_t{count} | uint64_t{entries_begin} << 32;
    StorePublished(stream->chunk, {count, entries_begin});
  }
  SetFreeSlots(thread, NoSlot());
}

// opscope_may_write for a function with this frame.
bool MayWrite(Stream* stream, const void* frame) {
  Thread* thread = opscope_tls;
  OpenScope* slots = thread->free_slots;
  if (IsSlot(slots) || slots == NoSlot()) return true;
  if (IsInterrupted(slots, frame)) {
    CountDropOfHandler(stream);
    return false;
  }
  RecoverFromJump(thread);
  return true;
}

}  // namespace

bool InterruptsWriting(const Thread* thread, const void* frame) {
  const OpenScope* slots = thread->free_slots;
  return !IsSlot(slots) && slots != NoSlot() && IsInterrupted(slots, frame);
}

ThreadState* NewThread(uint64_t os_thread) {
  ThreadState* state = TakeEndedThread();
  if (state == nullptr) state = MakeInMemory<ThreadState>();
  if (state == nullptr) return nullptr;
  state->thread.internal = state;
  state->thread.index = ++registry.threads_made;
  state->thread.os_thread = os_thread;
  std::memset(state->name, 0, sizeof(state->name));
  state->is_track = false;
  state->chunk_layout = kChunkLayout;
  return state;
}

void RetireThread(ThreadState* state) {
  Thread* thread = &state->thread;
  for (Stream*& stream : thread->streams) {
    if (stream == nullptr) continue;
    StreamState* joined = StateOf(stream);
    if (stream->generation.load(std::memory_order_relaxed) == 0 && ReleaseStream(thread, joined)) continue;
    // Its records and open scopes stay in the window.
    MutexLock stream_lock(joined->mutex);
    UnlinkEndedScopes(stream);  // later ones are taken out by the threads that end them
    joined->held_by_owner = false;
    stream->window->live.fetch_sub(1, std::memory_order_relaxed);
    if (stream->generation.load(std::memory_order_relaxed) != 0) CompactEndedStream(joined);
    stream = nullptr;
  }
  thread->native = nullptr;
  thread->gate = 0;
  state->next = registry.ended;
  registry.ended = state;
}

void CopyThreadName(char (&to)[32], const char* name) {
  size_t size = std::strlen(name);
  if (size > sizeof(to) - 1) {
    size = sizeof(to) - 1;
    while (size > 0 && (static_cast<unsigned char>(name[size]) & 0xc0u) == 0x80u)
      --size;
  }
  std::memset(to, 0, sizeof(to));
  std::memcpy(to, name, size);
}

bool MakeThreadKey() {
  if (!registry.thread_key_made) registry.thread_key_made = pthread_key_create(&registry.thread_key, ThreadEnds) == 0;
  return registry.thread_key_made;
}

}  // namespace opscope

using opscope::OpenScope;
using opscope::StateOf;
using opscope::Stream;
using opscope::Thread;

Thread* opscope_thread() {
  Thread* thread = opscope_tls;
  return thread != nullptr ? thread : opscope::MakeThread();
}

bool opscope_may_write(Stream* stream) {
  return opscope::MayWrite(stream, __builtin_frame_address(0));
}

OpenScope* opscope_take_slot(Stream* stream) {
  if (!opscope::MayWrite(stream, __builtin_frame_address(0))) return nullptr;
  Thread* thread = opscope_tls;
  const opscope::SignalsBlocked blocked;
  OpenScope* slots = opscope::TakeFreedElsewhere(thread);
  if (slots == nullptr) slots = opscope::MakeSlots(thread);
  if (slots == nullptr) {
    opscope::CountDrop(stream);
    return nullptr;
  }
  opscope::SetFreeSlots(thread, slots);
  return slots;
}

void opscope_set_thread_name(const char* name) {
  Thread* thread = opscope_thread();
  if (thread == nullptr || name == nullptr) return;
  const opscope::SignalsBlocked blocked;
  opscope::CopyThreadName(StateOf(thread)->name, name);
  for (Stream* stream : thread->streams) {
    if (stream == nullptr) continue;
    opscope::MutexLock lock(StateOf(stream)->mutex);
    if (stream->generation.load(std::memory_order_relaxed) == 0) continue;
    std::memcpy(StateOf(stream)->thread_name, StateOf(thread)->name, sizeof(StateOf(thread)->name));
    if (stream->chunk != nullptr) std::memcpy(stream->chunk->thread_name, StateOf(thread)->name, 32);
  }
}

void opscope_module_unloads() {
  const opscope::SignalsBlocked blocked;
  opscope::MutexLock lock(opscope::registry.mutex);
  ++opscope::registry.module_unloads;
  opscope::ChangeGate();
}
