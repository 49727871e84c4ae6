// Windows: open, close, count, read, free.
//
// Opening makes the window complete before any thread can see it: slot, generation, calibration, file; then
// one store into opscope_window_generation publishes it. Closing does the reverse: that store becomes 0 and
// every stream's generation becomes 0, so that threads stop at their next event; then each stream is sealed
// while its thread may still be in the hot path (seal.cc). The cost of both depends on the number of
// threads and not on the number of records.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/signals_blocked.h"
#include "recorder/boot.h"
#include "recorder/calibrations.h"
#include "recorder/chunk_pool.h"
#include "recorder/clock.h"
#include "recorder/deferred_tracks.h"
#include "recorder/finish_file.h"
#include "recorder/overhead.h"
#include "recorder/registry.h"
#include "recorder/seal.h"
#include "recorder/window_info.h"

namespace opscope {
namespace {

// Appends members of a JSON object; null: none. False: an allocation failed. REQUIRES: the mutex of the window is held,
// or no other thread knows the window.
bool AddMembers(GrowingArray<char>* text, const char* members) {
  if (members == nullptr || *members == '\0') return true;
  const size_t size = std::strlen(members);
  if (!text->Reserve(text->size() + size + 1)) return false;
  return (text->empty() || text->Push(',')) && text->Append(members, size);
}

// Gives the window a slot and a generation; other threads do not see it yet. False: all slots are in use.
bool TakeSlot(Window* window) {
  MutexLock lock(registry.mutex);
  uint32_t slot = 0;
  while (slot < kMaxWindows && registry.open[slot] != nullptr)
    ++slot;
  if (slot == kMaxWindows) return false;
  window->slot = slot;
  window->generation = ++registry.windows_opened * kMaxWindows + slot;
  registry.open[slot] = window;
  return true;
}

// Makes the window visible: from here on threads record.
void Publish(Window* window) {
  MutexLock lock(registry.mutex);
  window->next = registry.all;
  registry.all = window;
  opscope_window_generation[window->slot].store(window->generation, std::memory_order_release);
  ChangeGate();
}

// If the file cannot be created, the window records in memory and keeps the error.
void MakeFile(Window* window, const char* path) {
  if (path == nullptr || *path == '\0') return;
  const std::string info = LiveInfoText(window);
  if (info.empty()) {
    window->refused = {ENOMEM, "while creating the file"};
  } else {
    window->file = RecordingFile::Create(path, info, &window->refused);
  }
}

void Delete(Window* window) {
  delete window->file;
  delete window;
}

// Makes the window invisible: from here on only deferred tracks accept records. REQUIRES: the close mutex is held.
void Unpublish(Window* window) {
  MutexLock lock(registry.mutex);
  opscope_window_generation[window->slot].store(0, std::memory_order_release);
  ChangeGate();
  for (StreamState* state : window->streams) {
    if (!state->is_deferred) StopAccepting(&state->stream);
  }
}

// Detaches the closing thread at once: it is in no event, so its stream need not wait for its next one.
void ReleaseOwnStream(Window* window) OPSCOPE_REQUIRES(registry.mutex) {
  Thread* thread = opscope_tls;
  if (thread == nullptr) return;
  Stream* stream = thread->streams[window->slot];
  if (stream != nullptr && stream->window == window) ReleaseStream(thread, StateOf(stream));
}

void CloseOnce(Window* window) {
  MutexLock close_lock(CloseMutex(window->slot));
  if (window->closed.load(std::memory_order_relaxed)) return;
  Unpublish(window);
  const Calibration end = AddCalibration(window);
  for (StreamState* state : window->streams) {
    if (!state->is_deferred) SealStream(window, state, end.ticks);
  }
  MutexLock lock(registry.mutex);  // others may be listing the streams: counts, dumps
  std::sort(window->streams.begin(), window->streams.end(),
            [](const StreamState* a, const StreamState* b) { return a->thread_index < b->thread_index; });
  ReleaseOwnStream(window);
  registry.open[window->slot] = nullptr;
  window->closed.store(true, std::memory_order_release);
}

// REQUIRES: the window is closed.
void FreeStreams(Window* window) {
  for (StreamState* state : window->streams) {
    MutexLock lock(state->mutex);
    for (ChunkHeader* chunk : state->chunks) {
      if (window->file == nullptr || !window->file->Holds(chunk)) ReturnChunk(chunk, chunk->size);
    }
    state->chunks.Free();
    if (state->retained != nullptr && !state->retained_in_file) DiscardPages(state->retained, state->retained_bytes);
  }
  MutexLock lock(registry.mutex);
  for (StreamState* state : window->streams) {
    MutexLock stream_lock(state->mutex);
    state->held_by_window = false;
    RecycleWhenFree(state);
  }
}

void Forget(Window* window) {
  MutexLock lock(registry.mutex);
  Window** link = &registry.all;
  while (*link != nullptr && *link != window)
    link = &(*link)->next;
  if (*link == window) *link = window->next;
}

void AddCounts(StreamState* state, WindowCounts* counts) {
  MutexLock lock(state->mutex);
  counts->chunks += static_cast<uint32_t>(state->chunks.size());
  if (state->sealed) {
    counts->recorded += state->recorded;
    counts->dropped += state->dropped;
    return;
  }
  const ChunkHeader* chunk = state->stream.chunk;
  const uint64_t current = chunk == nullptr ? 0 : LoadPublished(chunk).record_count;
  counts->recorded += state->written_before + current - state->recycled;
  counts->dropped += state->stream.dropped.load(std::memory_order_relaxed) + state->recycled +
                     state->dropped_elsewhere.load(std::memory_order_relaxed);
}

const char* WrongOptions(const WindowOptions* options) {
  if (options == nullptr) return "no window options";
  if (options->abi != kRecorderAbi) return "libopscope_recorder is of another version than its user";
  if (options->at_cap > AtCap::kKeepNewest) return "unknown policy at the cap";
  if (options->native_threads > NativeThreads::kNone) return "unknown choice of threads";
  return nullptr;
}

Window* Fail(const char** error, const char* sentence) {
  if (error != nullptr) *error = sentence;
  return nullptr;
}

}  // namespace
}  // namespace opscope

using opscope::Window;
using opscope::WindowCounts;
using opscope::WindowOptions;

void opscope_prepare() {
  const opscope::SignalsBlocked blocked;
  opscope_thread();  // null: memory is short
  opscope::CalibrateOverhead(&opscope::PrefaultPool);
}

Window* opscope_window_open(const WindowOptions* options,
                            const char** error) OPSCOPE_UNCHECKED_LOCKS {  // other threads see it from Publish on
  if (const char* wrong = opscope::WrongOptions(options)) return opscope::Fail(error, wrong);
  const opscope::SignalsBlocked blocked;
  opscope_prepare();
  auto* window = new (std::nothrow) Window;
  if (window == nullptr) return opscope::Fail(error, "out of memory");
  window->at_cap = options->at_cap;
  window->native_threads = options->native_threads;
  window->max_bytes = options->max_bytes;
  window->thread_number = options->thread_number;
  window->wall_clock = opscope::ReadWallClock();
  window->boot = opscope::BootHash();
  opscope::AddCalibration(window);
  opscope::ReadProcessName(window);
  if (!opscope::AddMembers(&window->metadata, options->metadata_json) || window->calibrations.empty()) {
    opscope::Delete(window);
    return opscope::Fail(error, "out of memory");
  }
  if (!opscope::TakeSlot(window)) {
    opscope::Delete(window);
    return opscope::Fail(error, "64 windows are open already");
  }
  opscope::MakeFile(window, options->record_to);
  opscope::Publish(window);
  if (window->native_threads != opscope::NativeThreads::kNone) opscope_stream_attach(window->slot, 0);
  return window;
}

uint32_t opscope_window_slot(const Window* window) {
  return window->slot;
}
uint64_t opscope_window_id(const Window* window) {
  return window->generation;
}

void opscope_window_close(Window* window) {
  const bool closed = window->closed.load(std::memory_order_acquire);
  if (closed && window->file == nullptr) return;
  const opscope::SignalsBlocked blocked;
  if (!closed) opscope::CloseOnce(window);
  if (window->file != nullptr && window->deferred.load() == 0) opscope::FinishFile(window);
}

opscope::WindowFile opscope_window_file(const Window* window) {
  return opscope::StateOfFile(window);
}

WindowCounts opscope_window_counts(const Window* window) {
  WindowCounts counts;
  if (window->detached) return counts;
  const opscope::SignalsBlocked blocked;
  opscope::MutexLock lock(opscope::registry.mutex);  // threads may be joining
  for (opscope::StreamState* state : window->streams)
    opscope::AddCounts(state, &counts);
  counts.dropped += window->forgotten_dropped + window->dropped_without_stream.load(std::memory_order_relaxed);
  counts.bytes = window->bytes.load(std::memory_order_relaxed);
  counts.threads = static_cast<uint32_t>(window->streams.size() + window->forgotten_threads);
  return counts;
}

void opscope_window_add_metadata(Window* window, const char* metadata_json) {
  if (metadata_json == nullptr) return;
  const opscope::SignalsBlocked blocked;
  {
    opscope::MutexLock lock(window->mutex);
    [[maybe_unused]] const bool added = opscope::AddMembers(&window->metadata, metadata_json);
  }
  if (window->file == nullptr) return;
  const std::string text = opscope::AddedMetadataText(*window, metadata_json);
  if (!text.empty()) window->file->AddInfo(text);
}

void opscope_window_add_overheads(Window* window, const char* members_json) {
  if (members_json == nullptr) return;
  const opscope::SignalsBlocked blocked;
  {
    opscope::MutexLock lock(window->mutex);
    [[maybe_unused]] const bool added = opscope::AddMembers(&window->overhead, members_json);
  }
  if (window->file == nullptr) return;
  const std::string text = opscope::AddedOverheadText(window);
  if (!text.empty()) window->file->AddInfo(text);
}

// Closed, and all tracks ended: what the streams have is constant.
void opscope_window_read(const Window* window, void (*sink)(void*, uint16_t, const void*, uint64_t),
                         void* context) OPSCOPE_UNCHECKED_LOCKS {
  if (!window->closed.load(std::memory_order_acquire)) return;
  opscope::SealDeferredTracks(const_cast<Window*>(window));
  const std::string_view info = opscope::WriteWindowInfo(const_cast<Window*>(window));
  if (info.empty()) return;  // without the calibrations the chunks' times would be misread
  sink(context, opscope::block_types::kWindowInfo, info.data(), info.size());
  if (window->detached) return;
  for (opscope::StreamState* state : window->streams) {
    for (const opscope::ChunkHeader* chunk : state->chunks) {
      sink(context, opscope::block_types::kRawChunk, chunk, chunk->size);
    }
  }
}

void opscope_window_free(Window* window) OPSCOPE_UNCHECKED_LOCKS {  // no other call has it
  if (window == nullptr) return;
  const opscope::SignalsBlocked blocked;
  opscope_window_close(window);
  opscope::SealDeferredTracks(window);
  opscope::FreeStreams(window);
  opscope::Forget(window);
  for (char* text : window->info_texts)
    std::free(text);
  opscope::Delete(window);
}
