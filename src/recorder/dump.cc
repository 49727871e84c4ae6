// A window as it is now, while its threads go on (opscope_window_dump).
//
// First the newest chunk of every thread, with the scopes that are open, so that all threads are shown at
// about the same moment; then the older ones, backward in time and thread by thread in turn. Backward,
// because under kKeepNewest a thread recycles its oldest chunk while the dump is under way, faster than
// chunks can be written. Beginning with the oldest would chase it and collect pieces with holes between
// them; this way only the far end is lost. So a dump's records of a thread are
// without a gap up to its newest, and those before them are counted as dropped.
//
// A thread's mutex is held for a microsecond, to read its list of open scopes or to pin a chunk; its
// bytes are read outside. A pinned chunk stays as it is: when its thread recycles it meanwhile the dump
// gives it back. So a thread that needs its next chunk does not wait for a disk, nor for a copy.
//
// The moment of a thread. In this order are read: the number of published records n0, the clock T, the
// list of open scopes, the number of published records n1. The dump has the records [0, n0), those of
// [n0, n1) that began before T and have their outer scopes in the dump, and the scopes of the list that
// began before T and have no record in [n0 - 1, n1). The dump contains every scope that began before T and
// has a child in the dump, each once, and no scope that began after T:
//   - A scope in the list before its first reading stays there until it is published (before n1, hence
//     among the records) or is in the list still.
//   - A scope that came into the list later has no child in [0, n0), and its children in [n0, n1) are
//     left out with it. It may have begun before T, and a scope in it too: a processor reads its clock
//     while older stores of its own still wait to be seen by others. Time alone does not tell.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

#include "base/signals_blocked.h"
#include "recorder/calibrations.h"
#include "recorder/chunk_supply.h"
#include "recorder/clamp_to_snapshot.h"
#include "recorder/open_scopes.h"
#include "recorder/registry.h"
#include "recorder/unfinished.h"
#include "recorder/window_info.h"

namespace opscope {
namespace {

using DumpSink = bool (*)(void* context, uint16_t type, const void* data, uint64_t bytes);

enum { kNewest = 0, kOlder = 1 };  // StreamState::pins

// Memory that is used for one chunk after the other.
class Buffer {
 public:
  // `bytes` bytes of any content. Invalidates those of the last call. Null: memory is short.
  char* Take(uint64_t bytes) {
    bytes_.SetSize(0);
    return bytes_.Reserve(bytes) ? bytes_.begin() : nullptr;
  }

 private:
  GrowingArray<char> bytes_;
};

// The clock, read after all loads before it and before all loads after it.
uint64_t ReadTicksInOrder() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
  const uint64_t ticks = ReadTicks();
  __builtin_ia32_lfence();
  return ticks;
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const uint64_t ticks = ReadTicks();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return ticks;
#endif
}

// Progress of the dump in one thread.
struct ThreadCursor {
  StreamState* state = nullptr;
  ThreadFigures figures;
  uint64_t issued = 0;         // finished or dropped until the thread's moment
  uint32_t next_sequence = 0;  // of the chunk that is due, going backward
  bool more = false;
};

// State of a thread at its moment.
struct Moment {
  ChunkHeader* chunk = nullptr;
  ChunkHeader header;  // of the chunk, with no records
  uint64_t ticks = 0;
  uint32_t before = 0;     // n0
  PublishedExtent extent;  // n1, and the lowest byte that the open scopes use too
  OpenScopeCopies open;
  uint32_t open_depths = 0;               // depth of the innermost open scope, plus 1; nameless scopes count
  uint64_t began = 0;                     // number of open scopes; nameless scopes count
  const ChunkHeader* previous = nullptr;  // the chunk before, pinned too; null: none
};

class Dump {
 public:
  Dump(Window* window, DumpSink sink, void* context) : window_(window), sink_(sink), context_(context) {}

  bool Write(std::string_view about) {
    if (!ListThreads()) return false;
    bool going = true;
    for (size_t i = 0; going && i < cursors_.size(); ++i)
      going = WriteNewest(&cursors_[i]);
    for (bool any = true; going && any;) {
      any = false;
      for (size_t i = 0; going && i < cursors_.size(); ++i) {
        if (!cursors_[i].more) continue;
        any = true;
        going = WriteOlder(&cursors_[i]);
      }
    }
    return going && WriteInfo(about);
  }

 private:
  bool ListThreads() {
    const SignalsBlocked blocked;
    MutexLock lock(registry.mutex);
    if (window_->detached || !cursors_.Reserve(window_->streams.size())) return false;
    for (StreamState* state : window_->streams) {
      ThreadCursor cursor;
      cursor.state = state;
      if (!cursors_.Push(cursor)) return false;
    }
    return true;
  }

  bool WriteChunk(const ChunkHeader* chunk) { return sink_(context_, block_types::kRawChunk, chunk, chunk->size); }

  void Unpin(StreamState* state, int pin) {
    const SignalsBlocked blocked;
    MutexLock lock(state->mutex);
    PinnedChunk& pinned = state->pins[pin];
    if (pinned.orphan_bytes != 0) ReleaseChunk(window_, pinned.chunk, pinned.orphan_bytes);
    pinned = {};
  }

  static void CountIssued(const StreamState* state, uint64_t in_chunk, ThreadCursor* cursor)
      OPSCOPE_REQUIRES(state->mutex) {
    cursor->figures = IdentityOf(*state);
    cursor->issued = state->written_before + in_chunk + state->stream.dropped.load(std::memory_order_relaxed) +
                     state->dropped_elsewhere.load(std::memory_order_relaxed);
  }

  // The close of the window has sealed the stream meanwhile: its final counts and chunks count.
  static void BeginSealed(StreamState* state, ThreadCursor* cursor) OPSCOPE_REQUIRES(state->mutex) {
    CountIssued(state, 0, cursor);
    cursor->issued = state->recorded + state->dropped;
    cursor->more = !state->chunks.empty();
    if (cursor->more) cursor->next_sequence = state->chunks.back()->sequence;
  }

  // Reads the thread's moment and pins its chunk. False: nothing is to be written now.
  bool ReadMoment(ThreadCursor* cursor, Moment* moment) {
    StreamState* state = cursor->state;
    const SignalsBlocked blocked;
    MutexLock lock(state->mutex);
    if (state->sealed) {
      BeginSealed(state, cursor);
      return false;
    }
    ChunkHeader* chunk = state->stream.chunk;
    if (chunk == nullptr) {
      CountIssued(state, 0, cursor);
      return false;
    }
    moment->before = LoadPublished(chunk).record_count;
    moment->ticks = ReadTicksInOrder();
    if (!ListOpenScopesWhileRunning(state->stream, window_->generation, moment->ticks, &moment->open)) {
      registry.broken_invariants.fetch_add(1, std::memory_order_relaxed);
      moment->open.SetSize(0);
    }
    moment->extent = LoadPublished(chunk);
    RemoveFinished(&moment->open, chunk, moment->before == 0 ? 0 : moment->before - 1, moment->extent.record_count);
    moment->began = moment->open.size();
    moment->open_depths =
        moment->open.empty() ? 0 : UnpackDepth(moment->open[0].depth_kind_flags) + 1u;  // innermost first
    if (state->stopped) RemoveNameless(&moment->open);
    moment->extent.entries_begin = LowestByteOf(moment->open, chunk, moment->extent.entries_begin);
    moment->chunk = chunk;
    CopyHeader(*chunk, &moment->header);
    CountIssued(state, 0, cursor);
    state->pins[kNewest].chunk = chunk;
    cursor->more = chunk->sequence != 0;
    cursor->next_sequence = chunk->sequence - 1;
    moment->previous = cursor->more ? PinNext(state, *cursor) : nullptr;
    return true;
  }

  // The chunk as it was at the moment. Null: memory is short.
  ChunkHeader* CopyAt(const Moment& moment) {
    auto* copy = reinterpret_cast<ChunkHeader*>(newest_.Take(moment.header.size));
    if (copy == nullptr) return nullptr;
    CopyHeader(moment.header, copy);
    const auto* from = reinterpret_cast<const Record*>(moment.chunk + 1);
    auto* to = reinterpret_cast<Record*>(copy + 1);
    std::memcpy(static_cast<void*>(to), from, moment.extent.record_count * sizeof(Record));
    const uint32_t count =
        ClampToSnapshot(moment.open_depths, moment.ticks, to, moment.before, moment.extent.record_count);
    const uint32_t payload = moment.extent.entries_begin;
    std::memcpy(reinterpret_cast<char*>(copy) + payload, reinterpret_cast<const char*>(moment.chunk) + payload,
                moment.header.size - payload);
    StorePublished(copy, {count, payload});
    return copy;
  }

  // With the one before: the newest may have been begun just now.
  bool WriteNewest(ThreadCursor* cursor) {
    Moment moment;
    if (!ReadMoment(cursor, &moment)) return true;
    ChunkHeader* copy = CopyAt(moment);
    Unpin(cursor->state, kNewest);
    const bool going = WriteCopy(cursor, moment, copy);
    return WritePinned(cursor, moment.previous, going);
  }

  bool WriteCopy(ThreadCursor* cursor, const Moment& moment, ChunkHeader* copy) {
    if (copy == nullptr) {
      cursor->issued += moment.extent.record_count + moment.began;  // and none of them recorded
      return true;
    }
    const uint32_t finished = LoadPublished(copy).record_count;
    cursor->issued += finished + moment.began;
    cursor->figures.recorded += finished;
    ++cursor->figures.chunks;
    return WriteWithOpenScopes(cursor, moment, copy);
  }

  bool WriteWithOpenScopes(ThreadCursor* cursor, const Moment& moment, ChunkHeader* copy) {
    if (moment.open.empty()) return WriteChunk(copy);
    if (AppendUnfinished(copy, moment.open, moment.ticks)) {
      cursor->figures.recorded += moment.open.size();
      return WriteChunk(copy);
    }
    if (!WriteChunk(copy)) return false;
    const uint64_t size = UnfinishedChunkBytes(copy, moment.open);
    auto* chunk = reinterpret_cast<ChunkHeader*>(size > kMaxUnfinishedChunkBytes ? nullptr : unfinished_.Take(size));
    if (chunk == nullptr) return true;  // issued and not recorded
    FillUnfinishedChunk(copy, moment.open, moment.ticks, static_cast<uint32_t>(size), chunk);
    cursor->figures.recorded += moment.open.size();
    ++cursor->figures.chunks;
    return WriteChunk(chunk);
  }

  // The chunk that is due, pinned; null when it was recycled, and all before it with it.
  static ChunkHeader* PinNext(StreamState* state, const ThreadCursor& cursor) OPSCOPE_REQUIRES(state->mutex) {
    if (state->chunks.empty() || cursor.next_sequence < state->chunks[0]->sequence) return nullptr;
    const size_t index = cursor.next_sequence - state->chunks[0]->sequence;
    if (index >= state->chunks.size()) return nullptr;
    return state->pins[kOlder].chunk = state->chunks[index];
  }

  bool WriteOlder(ThreadCursor* cursor) {
    const ChunkHeader* chunk = nullptr;
    {
      const SignalsBlocked blocked;
      StreamState* const state = cursor->state;
      MutexLock lock(state->mutex);
      chunk = PinNext(state, *cursor);
    }
    return WritePinned(cursor, chunk, true);
  }

  // A chunk that PinNext gave, null included; and where the thread goes on after it.
  bool WritePinned(ThreadCursor* cursor, const ChunkHeader* chunk, bool going) {
    cursor->more = chunk != nullptr && chunk->sequence != 0;
    if (chunk == nullptr) return going;
    cursor->next_sequence = chunk->sequence - 1;
    if (going) {
      cursor->figures.recorded += LoadPublished(chunk).record_count;
      ++cursor->figures.chunks;
      going = WriteChunk(chunk);
    }
    Unpin(cursor->state, kOlder);
    return going;
  }

  bool WriteInfo(std::string_view about) {
    GrowingArray<ThreadFigures> threads;
    if (!threads.Reserve(cursors_.size() + 1)) return false;
    if (HasForgotten(*window_) && !threads.Push(FiguresOfForgotten(*window_))) return false;
    for (ThreadCursor& cursor : cursors_) {
      cursor.figures.dropped = cursor.issued > cursor.figures.recorded ? cursor.issued - cursor.figures.recorded : 0;
      if (!threads.Push(cursor.figures)) return false;
    }
    // After the close the newest calibration is the end of the recording, to which unfinished calls reach.
    if (opscope_window_generation[window_->slot].load(std::memory_order_acquire) == window_->generation) {
      const SignalsBlocked blocked;
      AddCalibration(window_);
    }
    const std::string text = DumpInfoText(window_, threads.begin(), threads.size(), about);
    return !text.empty() && sink_(context_, block_types::kWindowInfo, text.data(), text.size());
  }

  Window* window_;
  DumpSink sink_;
  void* context_;
  GrowingArray<ThreadCursor> cursors_;
  Buffer newest_;
  Buffer unfinished_;
};

}  // namespace
}  // namespace opscope

bool opscope_window_dump(opscope::Window* window, const char* about_json,
                         bool (*sink)(void*, uint16_t, const void*, uint64_t), void* context) {
  opscope::MutexLock lock(window->dump_mutex);
  return opscope::Dump(window, sink, context).Write(about_json == nullptr ? "" : about_json);
}
