// Writes open scopes as records. The last chunk of a thread has their names and payloads already (invariant
// 1 of recorder_abi.h), so a record per scope behind the others is usually enough. If the chunk is full,
// the scopes get one more chunk of exactly their size, with copies of their entries:
//
//   chunk 7: ... full, open scopes a, b     ->    chunk 8: records b, a; entries of b and a
//
// Records are written innermost first, as if the scopes had ended in order.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/unfinished.h"

#include <cstring>
#include <new>

#include "recorder/chunk_sink.h"
#include "recorder/entries.h"
#include "recorder/pages.h"

namespace opscope {
namespace {

Record UnfinishedRecord(const OpenScopeCopy& copy, uint64_t end_ticks) {
  Record record;
  record.start = copy.start;
  record.value = end_ticks > copy.start ? end_ticks - copy.start : 0;
  UnpackScope(copy.depth_kind_flags, copy.origin, &record);
  record.flags |= record_flags::kUnfinished;
  record.name = copy.name;
  record.payload = copy.payload;
  return record;
}

}  // namespace

void CopyHeader(const ChunkHeader& from, ChunkHeader* to) {
  new (to) ChunkHeader;
  to->layout = from.layout;
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

uint32_t LowestByteOf(const OpenScopeCopies& copies, const ChunkHeader* chunk, uint32_t published) {
  for (const OpenScopeCopy& copy : copies)
    published = LowestOffset(SpaceOf(chunk), copy.name, copy.payload, published);
  return published;
}

bool AppendUnfinished(ChunkHeader* chunk, const OpenScopeCopies& copies, uint64_t end_ticks) {
  PublishedExtent extent = LoadPublished(chunk);
  const uint64_t records_end = sizeof(ChunkHeader) + (extent.record_count + copies.size()) * sizeof(Record);
  if (records_end > extent.entries_begin) return false;
  auto* records = reinterpret_cast<Record*>(chunk + 1);
  for (const OpenScopeCopy& copy : copies)
    records[extent.record_count++] = UnfinishedRecord(copy, end_ticks);
  StorePublished(chunk, extent);
  return true;
}

uint64_t UnfinishedChunkBytes(const ChunkHeader* last, const OpenScopeCopies& copies) {
  const EntrySpace space = SpaceOf(last);
  uint64_t bytes = sizeof(ChunkHeader) + copies.size() * sizeof(Record);
  for (const OpenScopeCopy& copy : copies)
    bytes += BytesOfEntries(space, copy.name, copy.payload);
  return PageUp(bytes);
}

void FillUnfinishedChunk(const ChunkHeader* last, const OpenScopeCopies& copies, uint64_t end_ticks, uint32_t size,
                         ChunkHeader* chunk) {
  const EntrySpace space = SpaceOf(last);
  CopyHeader(*last, chunk);
  chunk->size = size;
  chunk->sequence = last->sequence + 1;
  chunk->recorded_before = last->recorded_before + LoadPublished(last).record_count;
  ChunkSink sink(chunk, copies.size());
  auto* records = reinterpret_cast<Record*>(chunk + 1);
  uint32_t count = 0;
  for (const OpenScopeCopy& copy : copies) {
    OpenScopeCopy moved = copy;
    const CopiedEntries entries = CopyEntries(space, copy.name, copy.payload, kNoThread, &sink);
    moved.name = entries.name;
    moved.payload = entries.payload;
    records[count++] = UnfinishedRecord(moved, end_ticks);
  }
  StorePublished(chunk, {count, sink.limit()});
}

}  // namespace opscope
