// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/track_writer.h"

#include <algorithm>
#include <cstring>

namespace opscope::cuda {
namespace {

uint64_t HashOf(const DecodedRecord& record) {
  uint64_t hash = (static_cast<uint64_t>(record.event) + 1) * 0x9e3779b97f4a7c15u;
  for (uint32_t at = 0; at < record.details_bytes; at += 8) {
    uint64_t word;
    std::memcpy(&word, record.details + at, sizeof(word));
    hash = (hash ^ word) * 0x2127599bf4325c37u;
    hash ^= hash >> 29;
  }
  return hash | 1;
}

constexpr uint32_t SideBytes(uint32_t details) {
  return (static_cast<uint32_t>(sizeof(PayloadHeader)) + details + 7) & ~7u;
}

}  // namespace

uint32_t TrackWriter::SideOf(const DecodedRecord& record) {
  const uint64_t hash = HashOf(record);
  Shared& shared = shared_[hash >> 7 & (kSharedEntries - 1)];
  if (shared.hash == hash && shared.bytes == record.details_bytes) {
    const char* known = reinterpret_cast<const char*>(track_->chunk) + shared.offset + sizeof(PayloadHeader);
    if (std::memcmp(known, record.details, record.details_bytes) == 0) return shared.offset;
  }
  const uint32_t bytes = SideBytes(record.details_bytes);
  char* place = ReserveSide(track_, bytes);
  if (place == nullptr) return 0;
  const PayloadHeader header{bytes, 0, 0};
  std::memcpy(place, &header, sizeof(header));
  std::memcpy(place + sizeof(header), record.details, record.details_bytes);
  const uint32_t end = static_cast<uint32_t>(sizeof(header)) + record.details_bytes;
  std::memset(place + end, 0, bytes - end);
  const uint32_t offset = OffsetInChunk(track_, place);
  if (track_->chunk_sequence == known_chunk_) shared = {hash, offset, record.details_bytes};
  return offset;
}

void TrackWriter::BeginChunk() {
  known_chunk_ = track_->chunk_sequence;
  std::fill(shared_.begin(), shared_.end(), Shared{});
  if (is_defining_) return;
  is_defining_ = true;
  WriteClock(read_clock_());
  for (const auto& [device, name] : devices_) {
    DecodedRecord again = device;
    again.name = name.c_str();
    Write(again);
  }
  is_defining_ = false;
}

bool TrackWriter::Append(const DecodedRecord& record, Record made) {
  for (int tries = 0; tries < 4; ++tries) {
    if (OPSCOPE_UNLIKELY(!HasRoom(track_, 0)) && !opscope_make_room(track_, 0)) break;
    if (OPSCOPE_UNLIKELY(track_->chunk_sequence != known_chunk_)) BeginChunk();
    const uint32_t chunk = track_->chunk_sequence;
    made.name = record.name == nullptr ? 0 : InternText(track_, record.name, std::strlen(record.name));
    if (OPSCOPE_UNLIKELY(track_->chunk_sequence != chunk)) continue;  // the name needed the next one
    made.side = SideOf(record);
    if (OPSCOPE_UNLIKELY(made.side == 0)) break;
    if (OPSCOPE_UNLIKELY(track_->chunk_sequence != chunk)) continue;
    AppendRecord(track_, made);
    return true;
  }
  CountDrop(track_);
  return false;
}

bool TrackWriter::Write(const DecodedRecord& record) {
  Record made;
  made.start = record.start;
  made.value = record.duration;
  made.kind = RecordKind::kNative;
  made.source = RecordSource::kCuda;
  made.scope = static_cast<uint8_t>(record.event);
  made.depth = static_cast<uint16_t>(record.correlation);
  made.reserved = static_cast<uint16_t>(record.correlation >> 16);
  if (record.event == CudaEvent::kDevice && !is_defining_) {
    devices_.emplace_back(record, record.name == nullptr ? "" : record.name);
  }
  return Append(record, made);
}

void TrackWriter::WriteClock(const ClockPair& pair) {
  DecodedRecord record;
  record.event = CudaEvent::kClock;
  record.start = pair.cupti_ns;
  record.duration = pair.ticks;
  record.SetDetails(CudaClockDetails{.bound_ticks = pair.bound_ticks});
  Write(record);
}

}  // namespace opscope::cuda
