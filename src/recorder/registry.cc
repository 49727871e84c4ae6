// The exported variables, the start of the library, and fork.
//
// A fork copies one thread of the parent. Locks that other threads held stay locked in the child, and lists
// may be half changed. So a prepare handler takes the global locks (close, registry, pool, memory). Those
// of single streams and windows, of which there may be thousands, it leaves; the child checks whether they
// were free and gives up what they guard if not. The three hooks take below 0.2 ms with 8 recording threads
// (docs/reference/benchmarks_recorder.md, "Fork"). In the child every window of the parent is detached: its functions
// do nothing, its file stays the parent's. The child can open windows of its own.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/registry.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "base/signals_blocked.h"
#include "recorder/chunk_pool.h"
#include "recorder/clock.h"
#include "recorder/memory.h"

using opscope::kMaxWindows;

constinit std::atomic<uint64_t> opscope_gate{0};
constinit std::atomic<uint64_t> opscope_window_generation[kMaxWindows]{};
__thread opscope::Thread* opscope_tls __attribute__((tls_model("initial-exec"))) = nullptr;
uint32_t opscope_clock_is_slow = 0;

namespace opscope {

constinit Registry registry;
constinit Mutex close_mutexes[kCloseMutexes];

void ChangeGate() {
  bool natives = false;
  for (uint32_t slot = 0; slot < kMaxWindows; ++slot) {
    const bool open = opscope_window_generation[slot].load(std::memory_order_relaxed) != 0;
    natives = natives || (open && registry.open[slot]->native_threads != NativeThreads::kNone);
  }
  ++registry.gate_changes;
  opscope_gate.store(natives ? registry.gate_changes : 0, std::memory_order_release);
}

bool LeaveToSnapshot(StreamState* state, const ChunkHeader* chunk, uint32_t size) {
  for (PinnedChunk& pin : state->pins) {
    if (pin.chunk != chunk) continue;
    pin.orphan_bytes = size;
    return true;
  }
  return false;
}

bool ReinitMutexAfterFork(Mutex* mutex) {
  if (mutex->try_lock()) {
    mutex->unlock();
    return true;
  }
  new (mutex) Mutex;
  return false;
}

void Disarm(StreamState* state) {
  registry.broken_invariants.fetch_add(1, std::memory_order_relaxed);
  state->stopped = true;
  state->stream.accepting.store(0, std::memory_order_release);
}

namespace {

// While the locks are held no handler of the forking thread may run; its mask waits here for their end.
sigset_t mask_before_fork;

// Before fork: so that no other thread holds one of these in the child. Locks of single streams and
// windows are not taken (there may be thousands); the child looks whether they are free.
void BeforeFork() OPSCOPE_UNCHECKED_LOCKS {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (Mutex& mutex : close_mutexes)
    mutex.lock();
  registry.mutex.lock();
  LockPool();
  LockMemory();
  mask_before_fork = before;
}

void AfterFork() OPSCOPE_UNCHECKED_LOCKS {
  const sigset_t before = mask_before_fork;
  UnlockMemory();
  UnlockPool();
  registry.mutex.unlock();
  for (Mutex& mutex : close_mutexes)
    mutex.unlock();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The functions from here on run in the child while it has one thread. They take no locks, and reinitialize the ones
// that were held at the fork.
void DetachStream(StreamState* state) OPSCOPE_UNCHECKED_LOCKS {
  StopAccepting(&state->stream);
  ForgetChunk(&state->stream);
  state->sealed = true;
  state->is_deferred = false;
  state->held_by_owner = false;
}

void DetachWindow(Window* window) OPSCOPE_UNCHECKED_LOCKS {
  [[maybe_unused]] const bool whole = ReinitMutexAfterFork(&window->dump_mutex);
  if (!ReinitMutexAfterFork(&window->mutex)) {
    new (&window->metadata) GrowingArray<char>;
    new (&window->overhead) GrowingArray<char>;
    new (&window->calibrations) GrowingArray<Calibration>;
  }
  for (StreamState* state : window->streams) {
    state->pins[0] = state->pins[1] = {};  // the dump goes on in the parent
    if (ReinitMutexAfterFork(&state->mutex)) continue;
    // The thread was changing its chunks, which may be half done: leak them.
    new (&state->chunks) GrowingArray<ChunkHeader*>;
    new (&state->names) NameTable;
  }
  const bool was_open = !window->closed.load(std::memory_order_relaxed) || window->deferred.load() != 0;
  if (window->file != nullptr) window->file->DetachInChild(was_open);
  if (!was_open) return;
  window->deferred.store(0);
  window->closed.store(true, std::memory_order_relaxed);
  window->detached = true;
  for (StreamState* state : window->streams)
    DetachStream(state);
}

// Detaches the child's one thread from the parent's windows. Its open scopes belong to the parent.
void DetachThread(Thread* thread) OPSCOPE_UNCHECKED_LOCKS {
  if (thread == nullptr) return;
  thread->os_thread = static_cast<uint64_t>(syscall(SYS_gettid));
  thread->native = nullptr;
  thread->gate = 0;
  for (Stream* stream : thread->streams) {
    if (stream != nullptr) ReleaseStream(thread, StateOf(stream));
  }
}

// The child gets none of the parent's windows.
void AfterForkInChild() OPSCOPE_UNCHECKED_LOCKS {
  for (auto& generation : opscope_window_generation)
    generation.store(0, std::memory_order_relaxed);
  registry.parent = {registry.process, 0};
  for (Window* window : registry.open) {
    if (window != nullptr) registry.parent.generation = std::max(registry.parent.generation, window->generation);
  }
  // Detaching may free and give chunks back; there is one thread and no handler, so nothing comes between.
  UnlockMemory();
  UnlockPool();
  for (Window* window = registry.all; window != nullptr; window = window->next)
    DetachWindow(window);
  for (Window*& window : registry.open)
    window = nullptr;
  ChangeGate();
  registry.process = static_cast<uint32_t>(getpid());
  DetachThread(opscope_tls);
  LockPool();
  LockMemory();
  AfterFork();
}

__attribute__((constructor)) void Load() {
  opscope_clock_is_slow = TscIsTrustworthy() ? 0 : 1;
  registry.process = static_cast<uint32_t>(getpid());
  registry.loaded = Calibrate(0);
  pthread_atfork(BeforeFork, AfterFork, AfterForkInChild);
  // Now, because the first keys of a process need no memory of malloc for their values.
  MutexLock lock(registry.mutex);
  MakeThreadKey();
}

}  // namespace
}  // namespace opscope

uint32_t opscope_recorder_abi() {
  return opscope::kRecorderAbi;
}
