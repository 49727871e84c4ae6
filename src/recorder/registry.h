// All state of the recorder of this process, and who guards it.
//
// Never destroyed, on purpose and only here: threads, callbacks of frameworks and exit handlers may
// come at any time, also after the last static destructor. `registry` is constant-initialised and has
// no destructor; what hangs on it (threads, streams, slots of open scopes) is recycled, never freed.
//
// Locks, in the order in which they are acquired
//   CloseMutex(slot)       close of a window and its deferred tracks, against late ends and ends on another thread
//   Window::dump_mutex     dumps of one window, one after the other
//   registry.mutex         lists of threads and windows, the gate, attach and detach of streams
//   finish_mutex()         of a RecordingFile: the end of the file
//   StreamState::mutex     which chunks a stream has; its owner takes it on slow paths only
//   Window::mutex          calibrations and metadata
//   the chunk pool's mutex (chunk_pool.cc), or a RecordingFile's
//
// Thread rule: as said by each field.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "base/mutex.h"
#include "opscope/recorder.h"
#include "recorder/clock.h"
#include "recorder/growing_array.h"
#include "recorder/name_table.h"
#include "recorder/recording_file.h"

namespace opscope {

struct ThreadState;
struct Window;

// The process that this one was forked from, and its newest recording that was open then; 0: none.
struct ForkedFrom {
  uint32_t process = 0;
  uint64_t generation = 0;
};

struct Registry {
  Mutex mutex;
  uint64_t windows_opened OPSCOPE_GUARDED_BY(mutex) = 0;
  uint64_t gate_changes OPSCOPE_GUARDED_BY(mutex) = 0;
  uint64_t module_unloads OPSCOPE_GUARDED_BY(mutex) = 0;     // calls of opscope_module_unloads
  Window* open[kMaxWindows] OPSCOPE_GUARDED_BY(mutex) = {};  // by slot; set until the close is complete
  Window* all OPSCOPE_GUARDED_BY(mutex) = nullptr;           // open or not, until freed
  ThreadState* ended OPSCOPE_GUARDED_BY(mutex) = nullptr;    // of threads that ended, for later threads
  uint32_t threads_made OPSCOPE_GUARDED_BY(mutex) = 0;
  uint32_t process = 0;
  ForkedFrom parent;
  Calibration loaded;  // when the library was; in monotonic time
  bool thread_key_made = false;
  pthread_key_t thread_key{};
  std::atomic<uint64_t> broken_invariants{0};
};
extern Registry registry;

// A chunk that a dump is reading. If the stream lets go of it meanwhile, the dump releases it.
struct PinnedChunk {
  ChunkHeader* chunk = nullptr;
  uint32_t orphan_bytes = 0;  // its size, once the stream has let go of it
};

// One thread in one window. Belongs to its Thread for ever; used for one window after another.
struct StreamState {
  Stream stream;

  Mutex mutex;
  GrowingArray<ChunkHeader*> chunks OPSCOPE_GUARDED_BY(mutex);  // by sequence, the last one is the current one
  NameTable names;                                              // of the current chunk; touched by the owner only
  uint64_t written_before OPSCOPE_GUARDED_BY(mutex) = 0;  // records in chunks before the current one, recycled ones too
  uint64_t recycled OPSCOPE_GUARDED_BY(mutex) = 0;        // records of recycled chunks
  uint64_t logical_thread = 0;                            // written under `mutex`
  char thread_name[32] = {};
  uint64_t recorded OPSCOPE_GUARDED_BY(mutex) = 0;  // final figures, set when the window closes
  uint64_t dropped OPSCOPE_GUARDED_BY(mutex) = 0;
  bool stopped = false;                           // reached the cap; written under `mutex`, or by the owner
  bool sealed OPSCOPE_GUARDED_BY(mutex) = false;  // the close has read it
  PinnedChunk pins[2] OPSCOPE_GUARDED_BY(mutex);  // of the dump under way

  std::atomic<uint64_t> chunk_bytes{0};        // of `chunks`, as charged against the cap; written under `mutex`
  std::atomic<uint64_t> dropped_elsewhere{0};  // by threads that ended or released scopes of this stream

  // Guarded by registry.mutex while the window is open.
  uint32_t thread_index = 0;
  uint64_t os_thread = 0;
  bool is_deferred = false;     // of a track that takes records after the close (deferred_tracks.h)
  bool held_by_owner = false;   // the thread may still be writing
  bool held_by_window = false;  // the window is not freed
  void* retained =
      nullptr;  // memory of a closed window that stays mapped for its thread (invariant 7 of recorder_abi.h)
  uint64_t retained_bytes = 0;
  bool retained_in_file = false;
  const ChunkHeader* sealed_copy = nullptr;  // final copy in memory of a chunk in the file, to be written over it
  uint64_t sealed_copy_offset = 0;           // where that chunk begins in the file
  StreamState* next_free = nullptr;
  StreamState* next_ended = nullptr;  // of a StreamList
  size_t index = 0;                   // in Window::streams, while the window is open
};

inline StreamState* StateOf(Stream* stream) {
  return static_cast<StreamState*>(stream->internal);
}

// Generation first: a thread that finds `accepting` 0 reads the generation to distinguish a close from the cap.
inline void StartAccepting(Stream* stream, uint64_t generation) {
  stream->generation.store(generation, std::memory_order_release);
  stream->accepting.store(generation, std::memory_order_release);
}
inline void StopAccepting(Stream* stream) {
  StartAccepting(stream, 0);
}
// The stream lets go of its chunk and of its open scopes, which have their entries there.
inline void ForgetChunk(Stream* stream) {
  stream->chunk = nullptr;
  stream->next = nullptr;
  stream->limit = nullptr;
  stream->published = 0;
  stream->open_capacity = 0;
  stream->open_table = nullptr;
  stream->top.store(nullptr, std::memory_order_relaxed);
}

struct ThreadState {
  Thread thread;
  bool is_track = false;                 // a track, which no thread owns; constant while in use
  uint16_t chunk_layout = kChunkLayout;  // of its chunks; constant while in use
  char name[32] = {};                    // written by the thread
  GrowingArray<OpenScope*> slot_blocks;  // written by the thread
  StreamState* free_streams OPSCOPE_GUARDED_BY(registry.mutex) = nullptr;
  ThreadState* next OPSCOPE_GUARDED_BY(registry.mutex) = nullptr;  // of the list of ended threads
  // The Registry::module_unloads up to which the thread has cleared its name caches.
  uint64_t module_unloads OPSCOPE_GUARDED_BY(registry.mutex) = 0;
};

inline ThreadState* StateOf(Thread* thread) {
  return static_cast<ThreadState*>(thread->internal);
}

struct StreamList {
  StreamState* first = nullptr;
  StreamState* last = nullptr;
  uint32_t size = 0;
};

struct Window {
  AtCap at_cap = AtCap::kStop;
  NativeThreads native_threads = NativeThreads::kAll;
  uint64_t max_bytes = 0;
  uint64_t (*thread_number)() = nullptr;
  uint32_t slot = 0;
  uint64_t generation = 0;
  WallReading wall_clock;  // constant, as boot is
  uint64_t boot = 0;       // BootHash()
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint32_t> live{0};      // threads that joined and have not ended; written under registry.mutex
  std::atomic<bool> closed{false};    // written under CloseMutex(slot)
  std::atomic<uint32_t> deferred{0};  // streams that are; written under registry.mutex
  bool detached = false;              // it belongs to the process that this one was forked from
  RecordingFile* file = nullptr;      // constant; null: record_to was not requested, or the file could not be created
  FileFailure refused;                // constant; why it could not be created
  std::atomic<uint32_t> left_out{0};  // chunks that the file has no copy of, set when it ends

  GrowingArray<StreamState*> streams;                        // registry.mutex while open, constant afterwards
  StreamList ended OPSCOPE_GUARDED_BY(registry.mutex);       // of threads that ended, with chunks
  StreamList count_only OPSCOPE_GUARDED_BY(registry.mutex);  // of threads that ended, with nothing left but counts
  // Ended threads without records that `streams` no longer has, and the events that they dropped. Written under
  // registry.mutex and dump_mutex.
  uint64_t forgotten_threads = 0;
  uint64_t forgotten_dropped = 0;
  // Events of threads that cannot record: an allocation failed, or the thread is past its end.
  std::atomic<uint64_t> dropped_without_stream{0};

  Mutex dump_mutex;  // one dump at a time; before registry.mutex

  Mutex mutex;
  GrowingArray<Calibration> calibrations OPSCOPE_GUARDED_BY(mutex);
  int64_t calibrated_at_ns OPSCOPE_GUARDED_BY(mutex) = 0;  // of CLOCK_MONOTONIC_COARSE
  GrowingArray<char> metadata OPSCOPE_GUARDED_BY(mutex);
  GrowingArray<char> overhead OPSCOPE_GUARDED_BY(mutex);  // members of a JSON object, from sources
  // Kept until the window is freed: readers hold the last one.
  GrowingArray<char*> info_texts OPSCOPE_GUARDED_BY(mutex);
  char process_name[16] = {};  // constant

  Window* next OPSCOPE_GUARDED_BY(registry.mutex) = nullptr;  // list of all windows
};

// A few locks for all slots: scopes outlive windows, so the lock that a late end takes cannot be in a
// Window, and fork takes them all.
inline constexpr uint32_t kCloseMutexes = 8;
extern Mutex close_mutexes[kCloseMutexes];
inline Mutex& CloseMutex(uint64_t slot) {
  return close_mutexes[slot % kCloseMutexes];
}

// Generations carry their window's slot, so that a late end finds the lock by the generation alone.
inline uint32_t SlotOf(uint64_t generation) {
  return static_cast<uint32_t>(generation % kMaxWindows);
}

// In a forked child: true when the lock was free at the fork, so what it guards is whole. Makes a lock
// usable that a thread held which does not exist here.
bool ReinitMutexAfterFork(Mutex* mutex) OPSCOPE_UNCHECKED_LOCKS;

// An invariant is broken: disarms this stream and counts it in the window's information. REQUIRES: the calling thread
// owns the stream or holds its mutex.
void Disarm(StreamState* state);

// Takes scopes that other threads have ended out of the stream's list. REQUIRES: the calling thread
// owns the stream.
void UnlinkEndedScopes(Stream* stream);

// For a chunk that the stream lets go of. True: a dump is reading it and will release it.
bool LeaveToSnapshot(StreamState* state, const ChunkHeader* chunk, uint32_t size) OPSCOPE_REQUIRES(state->mutex);

// True in a signal handler that has interrupted the calling thread's writing (WritingMark): it must leave the thread's
// streams alone, those of closed windows included. frame: of the caller.
bool InterruptsWriting(const Thread* thread, const void* frame = __builtin_frame_address(0));
// A Thread under a new number, for a thread or a track, without a name. Null when memory is short.
ThreadState* NewThread(uint64_t os_thread) OPSCOPE_REQUIRES(registry.mutex);
// Detaches an ended Thread from its streams. Its records stay in their windows; a later thread uses it again.
void RetireThread(ThreadState* state) OPSCOPE_REQUIRES(registry.mutex);
// Copies a name into a field of 32 bytes, cut at a character.
void CopyThreadName(char (&to)[32], const char* name);
// The key whose destructor notices the end of a thread. False: the process has no key left.
bool MakeThreadKey() OPSCOPE_REQUIRES(registry.mutex);
// Gives the gate a new value after a window opened or closed.
void ChangeGate() OPSCOPE_REQUIRES(registry.mutex);
// Detaches the calling thread from its stream of a closed window. False: the close has not sealed the stream
// yet, and the thread keeps it.
bool ReleaseStream(Thread* thread, StreamState* state) OPSCOPE_REQUIRES(registry.mutex);
// Makes a stream without holders ready for its thread's next window.
void RecycleWhenFree(StreamState* state) OPSCOPE_REQUIRES(registry.mutex, state->mutex);

// The calling thread's stream of the open window, made when there is none (without a chunk yet). Null
// when memory is short. REQUIRES: the window is open.
StreamState* AttachLocked(Thread* thread, Window* window, uint64_t logical_thread) OPSCOPE_REQUIRES(registry.mutex);

}  // namespace opscope
