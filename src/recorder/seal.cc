// How a stream is read while its thread writes: the thread may be anywhere in the inline path, and it
// notices the close at its next event only. It publishes records with one store, so the records
// [0, n) of some moment are exact for any n that was read. What was open at that moment follows from
// the list of open scopes, read before n: what had left the list was published before that (invariant 4
// of recorder.h), and a scope of the list has ended exactly when its record is among those published
// since; since means from one before the count that was read first, because the scope that is between
// publishing and start 0 has the last record of all. What the thread writes later goes into
// its own chunk, which from here on nobody reads: the recording gets a copy.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/seal.h"

#include <sched.h>

#include <cstring>
#include <new>

#include "recorder/chunk_pool.h"
#include "recorder/entries.h"
#include "recorder/stream_sink.h"

namespace opscope {
namespace {

struct OpenCopy {
  uint64_t start;
  uint32_t name;
  uint32_t side;
  uint32_t shape;
  uint32_t origin;
};
using OpenCopies = GrowingArray<OpenCopy>;

constexpr uint32_t kMostSteps = 1u << 24;

enum class Listing { kDone, kChanged, kNoMemory };

// One try to read the list of open scopes, innermost first.
Listing TryListOpenScopes(const Stream& stream, uint64_t generation, OpenCopies* copies) {
  copies->SetSize(0);
  const OpenScope* top = stream.top.load(std::memory_order_acquire);
  const OpenScope* scope = top;
  for (uint32_t steps = 0; scope != nullptr; ++steps) {
    if (steps == kMostSteps) return Listing::kChanged;  // slots changed lists under our feet
    const uint64_t start = scope->start.load(std::memory_order_acquire);
    const uint64_t of_window = scope->generation.load(std::memory_order_acquire);
    const OpenCopy copy = {start, scope->name.load(std::memory_order_acquire),
                           scope->side.load(std::memory_order_acquire), scope->shape.load(std::memory_order_acquire),
                           scope->origin.load(std::memory_order_acquire)};
    const OpenScope* outer = scope->outer.load(std::memory_order_acquire);
    if (scope->start.load(std::memory_order_relaxed) != start) return Listing::kChanged;
    if (of_window != generation && of_window != kNoWindow) return Listing::kChanged;  // the slot is used again already
    // kNoWindow: begun after the close. Start 0: its record is there, or another thread's.
    if (of_window == generation && start != 0 && !copies->Push(copy)) return Listing::kNoMemory;
    scope = outer;
  }
  return stream.top.load(std::memory_order_relaxed) == top ? Listing::kDone : Listing::kChanged;
}

bool ListOpenScopes(const Stream& stream, uint64_t generation, OpenCopies* copies) {
  // The thread does no more than finish what it is in, so the list holds still after a try or two.
  for (int i = 0; i < 10000; ++i) {
    const Listing listing = TryListOpenScopes(stream, generation, copies);
    if (listing != Listing::kChanged) return listing == Listing::kDone;
    sched_yield();
  }
  return false;
}

const Record* RecordsOf(const ChunkHeader* chunk) {
  return reinterpret_cast<const Record*>(chunk + 1);
}

bool IsAmong(const OpenCopy& copy, const Record* begin, const Record* end) {
  for (const Record* record = begin; record != end; ++record) {
    if (record->start == copy.start && record->depth == (copy.shape & 0xffffu)) return true;
  }
  return false;
}

void RemoveFinished(OpenCopies* copies, const ChunkHeader* chunk, uint32_t before, uint32_t after) {
  size_t kept = 0;
  for (const OpenCopy& copy : *copies) {
    if (!IsAmong(copy, RecordsOf(chunk) + before, RecordsOf(chunk) + after)) (*copies)[kept++] = copy;
  }
  copies->SetSize(kept);
}

// Header of a chunk that stands for, or follows, `from`.
void CopyHeader(const ChunkHeader& from, ChunkHeader* to) {
  new (to) ChunkHeader;
  to->header_bytes = from.header_bytes;
  to->size = from.size;
  to->sequence = from.sequence;
  to->window = from.window;
  to->os_thread = from.os_thread;
  to->thread_index = from.thread_index;
  to->process = from.process;
  to->logical_thread = from.logical_thread;
  to->dropped_before = from.dropped_before;
  to->calibration = from.calibration;
  std::memcpy(to->thread_name, from.thread_name, sizeof(to->thread_name));
  to->recorded_before = from.recorded_before;
}

ChunkHeader* TakeCharged(Window* window, uint32_t size) {
  ChunkHeader* chunk = TakeChunk(size);
  if (chunk != nullptr) window->bytes.fetch_add(size, std::memory_order_relaxed);
  return chunk;
}

// The published part of a chunk that its thread may go on writing to. Null when memory is short.
ChunkHeader* CopyPublished(Window* window, const ChunkHeader* chunk, PublishedExtent extent) {
  ChunkHeader* copy = TakeCharged(window, chunk->size);
  if (copy == nullptr) return nullptr;
  CopyHeader(*chunk, copy);
  const char* from = reinterpret_cast<const char*>(chunk);
  char* to = reinterpret_cast<char*>(copy);
  std::memcpy(to + sizeof(ChunkHeader), from + sizeof(ChunkHeader), extent.record_count * sizeof(Record));
  std::memcpy(to + extent.side_begin, from + extent.side_begin, chunk->size - extent.side_begin);
  return copy;
}

// Entries for the last chunk of a stream, downward from its end.
class EdgeSink final : public EntrySink {
 public:
  explicit EdgeSink(ChunkHeader* chunk) : base_(reinterpret_cast<char*>(chunk)), limit_(chunk->size) {}
  uint32_t limit() const { return limit_; }

  uint32_t Intern(std::string_view text) override {
    uint32_t offset = 0;
    StoreName(Reserve(static_cast<uint32_t>(NameEntryBytes(text.size())), &offset), text);
    return offset;
  }
  char* Reserve(uint32_t bytes, uint32_t* offset) override {
    limit_ -= bytes;
    *offset = limit_;
    return base_ + limit_;
  }

 private:
  char* base_;
  uint32_t limit_;
};

Record UnfinishedRecord(const OpenCopy& copy, uint64_t end_ticks) {
  Record record;
  record.start = copy.start;
  record.value = end_ticks > copy.start ? end_ticks - copy.start : 0;
  record.depth = static_cast<uint16_t>(copy.shape);
  record.kind = static_cast<RecordKind>(copy.shape >> 16 & 0xffu);
  record.flags = static_cast<uint8_t>(copy.shape >> 24 | record_flags::kUnfinished);
  record.source = static_cast<RecordSource>(copy.origin & 0xffu);
  record.scope = static_cast<uint8_t>(copy.origin >> 8);
  record.name = copy.name;
  record.side = copy.side;
  return record;
}

// Behind the last records of the stream, where there is room: names and payloads lie there already.
bool AppendUnfinished(ChunkHeader* chunk, const OpenCopies& copies, uint64_t end_ticks) {
  PublishedExtent extent = LoadPublished(chunk);
  const uint64_t records_end = sizeof(ChunkHeader) + (extent.record_count + copies.size()) * sizeof(Record);
  if (records_end > extent.side_begin) return false;
  auto* records = reinterpret_cast<Record*>(chunk + 1);
  for (const OpenCopy& copy : copies)
    records[extent.record_count++] = UnfinishedRecord(copy, end_ticks);
  StorePublished(chunk, extent);
  return true;
}

// A chunk of their own after `last`. Null when memory is short.
ChunkHeader* MakeEdgeChunk(Window* window, const ChunkHeader* last, const OpenCopies& copies, uint64_t end_ticks) {
  const EntrySpace space = SpaceOf(last);
  uint64_t bytes = sizeof(ChunkHeader) + copies.size() * sizeof(Record);
  for (const OpenCopy& copy : copies)
    bytes += BytesOfEntries(space, copy.name, copy.side);
  const uint64_t size = bytes <= kChunkBytes ? kChunkBytes : (bytes + 4095) & ~uint64_t{4095};
  ChunkHeader* chunk = size > (uint64_t{1} << 30) ? nullptr : TakeCharged(window, static_cast<uint32_t>(size));
  if (chunk == nullptr) return nullptr;
  CopyHeader(*last, chunk);
  chunk->size = static_cast<uint32_t>(size);
  chunk->sequence = last->sequence + 1;
  chunk->recorded_before = last->recorded_before + LoadPublished(last).record_count;
  EdgeSink sink(chunk);
  auto* records = reinterpret_cast<Record*>(chunk + 1);
  uint32_t count = 0;
  for (const OpenCopy& copy : copies) {
    OpenCopy moved = copy;
    const CopiedEntries entries = CopyEntries(space, copy.name, copy.side, kNoThread, &sink);
    moved.name = entries.name;
    moved.side = entries.side;
    records[count++] = UnfinishedRecord(moved, end_ticks);
  }
  StorePublished(chunk, {count, sink.limit()});
  return chunk;
}

// Number of scopes that could be written.
uint64_t WriteUnfinished(Window* window, StreamState* state, const OpenCopies& copies, uint64_t end_ticks) {
  if (copies.empty() || state->chunks.empty()) return 0;
  if (AppendUnfinished(state->chunks.back(), copies, end_ticks)) return copies.size();
  if (!state->chunks.Reserve(state->chunks.size() + 1)) return 0;
  ChunkHeader* edge = MakeEdgeChunk(window, state->chunks.back(), copies, end_ticks);
  return edge != nullptr && state->chunks.Push(edge) ? copies.size() : 0;
}

// Scopes that began at the cap have no name to be shown by; they count as dropped.
void RemoveNameless(OpenCopies* copies) {
  size_t kept = 0;
  for (const OpenCopy& copy : *copies) {
    if (copy.name != 0) (*copies)[kept++] = copy;
  }
  copies->SetSize(kept);
}

// Replaces the current chunk by one that is final. False: memory is short, what is in it is lost.
bool SettleCurrentChunk(Window* window, StreamState* state, PublishedExtent extent) {
  ChunkHeader* chunk = state->stream.chunk;
  if (!state->held_by_owner || state->stream.thread == opscope_tls) {  // nobody is writing
    StorePublished(chunk, extent);
    return true;
  }
  state->loaned = chunk;
  state->loaned_bytes = chunk->size;
  ChunkHeader* copy = CopyPublished(window, chunk, extent);
  if (copy == nullptr) {
    state->chunks.SetSize(state->chunks.size() - 1);
    return false;
  }
  StorePublished(copy, extent);
  state->chunks.back() = copy;
  return true;
}

}  // namespace

void SealStream(Window* window, StreamState* state, uint64_t end_ticks) {
  std::lock_guard<std::mutex> lock(state->mutex);
  state->sealed = true;
  Stream& stream = state->stream;
  const ChunkHeader* chunk = stream.chunk;
  const uint32_t before = chunk == nullptr ? 0 : LoadPublished(chunk).record_count;
  OpenCopies copies;
  if (!ListOpenScopes(stream, window->generation, &copies)) {
    registry.broken_invariants.fetch_add(1, std::memory_order_relaxed);
  }
  PublishedExtent extent;
  bool settled = true;
  if (chunk != nullptr) {
    extent = LoadPublished(chunk);
    RemoveFinished(&copies, chunk, before == 0 ? 0 : before - 1, extent.record_count);
    for (const OpenCopy& copy : copies) {
      extent.side_begin = LowestOffset(SpaceOf(chunk), copy.name, copy.side, extent.side_begin);
    }
    settled = SettleCurrentChunk(window, state, extent);
  }
  const uint64_t open = copies.size();
  if (state->stopped) RemoveNameless(&copies);
  const uint64_t lost = settled ? 0 : extent.record_count;
  const uint64_t unfinished = settled ? WriteUnfinished(window, state, copies, end_ticks) : 0;
  state->recorded = state->written_before + extent.record_count - state->recycled - lost + unfinished;
  state->dropped = stream.dropped.load(std::memory_order_relaxed) + state->recycled + lost + (open - unfinished) +
                   state->dropped_elsewhere.load(std::memory_order_relaxed);
}

}  // namespace opscope
