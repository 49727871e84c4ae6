// Threads: made at their first event, noticed at their end by a pthread key, used again for later
// threads under a new index.
// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "recorder/registry.h"

namespace opscope {
namespace {

// Value of the pthread key once the thread's end was seen: later events of the same thread (from
// other libraries' destructors) must not make it a new Thread, whose end nobody would see.
char past_its_end;

constexpr uint32_t kSlotsPerBlock = 64;

uint64_t CountFreeSlots(Thread* thread) {
  uint64_t count = 0;
  for (OpenScope* slot = thread->free_slots; slot != nullptr; slot = slot->next_free)
    ++count;
  OpenScope* slot = thread->freed_elsewhere.load(std::memory_order_acquire);
  for (; slot != nullptr; slot = slot->next_free)
    ++count;
  return count;
}

// A Thread whose scopes are all released; one with a scope still open must keep its identity, because
// OpenScope::owner tells own scopes from foreign ones. REQUIRES: registry.mutex is held.
ThreadState* TakeEndedThread() {
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
  pthread_setspecific(registry.thread_key, &past_its_end);  // glibc calls again, a few times
  if (value == &past_its_end) return;
  auto* state = static_cast<ThreadState*>(value);
  Thread* thread = &state->thread;
  std::lock_guard<std::mutex> lock(registry.mutex);
  for (Stream*& stream : thread->streams) {
    if (stream == nullptr) continue;
    StreamState* joined = StateOf(stream);
    if (stream->generation.load(std::memory_order_relaxed) == 0 && LetGo(thread, joined)) continue;
    // What it recorded stays in the window, and its open scopes with it.
    std::lock_guard<std::mutex> stream_lock(joined->mutex);
    DropEndedScopes(stream);  // later ones are taken out by the threads that end them
    joined->held_by_owner = false;
    stream = nullptr;
  }
  thread->native = nullptr;
  thread->gate = 0;
  opscope_tls = nullptr;
  state->next = registry.ended;
  registry.ended = state;
}

// REQUIRES: registry.mutex is held.
bool MakeThreadKey() {
  if (!registry.thread_key_made) registry.thread_key_made = pthread_key_create(&registry.thread_key, ThreadEnds) == 0;
  return registry.thread_key_made;
}

Thread* MakeThread() {
  std::lock_guard<std::mutex> lock(registry.mutex);
  if (!MakeThreadKey() || pthread_getspecific(registry.thread_key) != nullptr) return nullptr;
  ThreadState* state = TakeEndedThread();
  if (state == nullptr) state = new (std::nothrow) ThreadState;
  if (state == nullptr) return nullptr;
  if (pthread_setspecific(registry.thread_key, state) != 0) {
    state->next = registry.ended;
    registry.ended = state;
    return nullptr;
  }
  Thread* thread = &state->thread;
  thread->internal = state;
  thread->index = ++registry.threads_made;
  thread->os_thread = static_cast<uint64_t>(syscall(SYS_gettid));
  std::memset(state->name, 0, sizeof(state->name));
  prctl(PR_GET_NAME, state->name);  // 16 bytes at most
  opscope_tls = thread;
  return thread;
}

// Takes scopes that other threads have ended out of this thread's lists.
void UnlinkEndedElsewhere(Thread* thread) {
  for (Stream* stream : thread->streams) {
    if (stream != nullptr && stream->ended_elsewhere.load(std::memory_order_acquire) != 0) DropEndedScopes(stream);
  }
}

OpenScope* MakeSlots(Thread* thread) {
  ThreadState* state = StateOf(thread);
  if (!state->slot_blocks.Reserve(state->slot_blocks.size() + 1)) return nullptr;
  auto* block = new (std::nothrow) OpenScope[kSlotsPerBlock];
  if (block == nullptr || !state->slot_blocks.Push(block)) return nullptr;
  for (uint32_t i = 0; i < kSlotsPerBlock; ++i) {
    block[i].owner = thread;
    block[i].next_free = i + 1 < kSlotsPerBlock ? &block[i + 1] : nullptr;
  }
  return block;
}

// Cuts at a character, not within one.
void CopyName(char (&to)[32], const char* name) {
  size_t size = std::strlen(name);
  if (size > sizeof(to) - 1) {
    size = sizeof(to) - 1;
    while (size > 0 && (static_cast<unsigned char>(name[size]) & 0xc0u) == 0x80u)
      --size;
  }
  std::memset(to, 0, sizeof(to));
  std::memcpy(to, name, size);
}

}  // namespace
}  // namespace opscope

using opscope::OpenScope;
using opscope::StateOf;
using opscope::Stream;
using opscope::Thread;

Thread* opscope_thread() {
  Thread* thread = opscope_tls;
  return thread != nullptr ? thread : opscope::MakeThread();
}

OpenScope* opscope_more_slots(Thread* thread) {
  // First what others have given back; a slot may be used again only when no list holds it any more.
  OpenScope* freed = thread->freed_elsewhere.exchange(nullptr, std::memory_order_acquire);
  if (freed != nullptr) {
    opscope::UnlinkEndedElsewhere(thread);
  } else {
    freed = opscope::MakeSlots(thread);
  }
  thread->free_slots = freed;
  return freed;
}

void opscope_set_thread_name(const char* name) {
  Thread* thread = opscope_thread();
  if (thread == nullptr || name == nullptr) return;
  opscope::CopyName(StateOf(thread)->name, name);
  for (Stream* stream : thread->streams) {
    if (stream == nullptr) continue;
    std::lock_guard<std::mutex> lock(StateOf(stream)->mutex);
    if (stream->generation.load(std::memory_order_relaxed) == 0) continue;
    std::memcpy(StateOf(stream)->thread_name, StateOf(thread)->name, sizeof(StateOf(thread)->name));
    if (stream->chunk != nullptr) std::memcpy(stream->chunk->thread_name, StateOf(thread)->name, 32);
  }
}
