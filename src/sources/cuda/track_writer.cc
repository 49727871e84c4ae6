// Details that records have in common are written once per chunk. A record's details are hashed into a direct-mapped
// cache of payloads in the current chunk; a kernel that is launched a thousand times with one grid costs 32 bytes per
// launch, and its grid, block and shared memory are stored once per chunk. The cache compares the details themselves,
// so a collision only costs a second copy.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/track_writer.h"

#include <cstring>

namespace opscope::cuda {
namespace {

// A sum of independent products, which a processor computes in parallel. Its upper bits depend on all of the details.
uint64_t HashOf(const DecodedRecord& record) {
  static constexpr uint64_t kFactors[] = {HashWord(1, 64),     0x2127599bf4325c37u, 0xbf58476d1ce4e5b9u,
                                          0x94d049bb133111ebu, 0xff51afd7ed558ccdu, 0xc4ceb9fe1a85ec53u,
                                          0xd6e8feb86659fd93u, 0xa0761d6478bd642fu};
  static_assert(sizeof(kFactors) == sizeof(record.details));
  uint64_t hash = (static_cast<uint64_t>(record.event) + 1) * 0xe7037ed1a0b428dbu;
  for (uint32_t word = 0; word * 8 < record.details_bytes; ++word)
    hash += LoadWord(reinterpret_cast<const char*>(record.details) + word * 8) * kFactors[word];
  hash = HashWord(hash ^ hash >> 32, 64);  // regular details, as grids are, have regular sums
  return hash | 1;
}

// Fills the record in place: reading it back for a copy would stall on its many small stores.
void FillRecord(const DecodedRecord& from, uint32_t name, uint32_t payload, Record* record) {
  record->start = from.start;
  record->value = from.duration;
  record->name = name;
  record->payload = payload;
  record->depth = static_cast<uint16_t>(from.correlation);
  record->kind = RecordKind::kNative;
  record->flags = 0;
  record->source = RecordSource::kCuda;
  record->scope = static_cast<uint8_t>(from.event);
  record->reserved = static_cast<uint16_t>(from.correlation >> 16);
}

constexpr uint32_t PayloadBytes(uint32_t details) {
  return (static_cast<uint32_t>(sizeof(PayloadHeader)) + details + 7) & ~7u;
}

}  // namespace

bool TrackWriter::Holds(const Shared& shared, const DecodedRecord& record, uint64_t hash) const {
  if (shared.hash != hash || shared.chunk != known_chunk_ || shared.bytes != record.details_bytes) return false;
  // Compares words, which is how the details were just stored. Both sides are padded with zeros to whole words.
  const char* known = reinterpret_cast<const char*>(track_->chunk) + shared.offset + sizeof(PayloadHeader);
  const char* details = reinterpret_cast<const char*>(record.details);
  uint64_t difference = 0;
  for (uint32_t at = 0; at < record.details_bytes; at += 8)
    difference |= LoadWord(known + at) ^ LoadWord(details + at);
  return difference == 0;
}

// Compares the texts: the memory at this address may hold another name now.
bool TrackWriter::HasName(const Shared& shared, const char* name) const {
  if (shared.name != name) return false;
  const char* known = reinterpret_cast<const char*>(track_->chunk) + shared.name_offset + sizeof(NameEntry);
  return name == nullptr || std::strcmp(known, name) == 0;
}

uint32_t TrackWriter::PayloadOf(const DecodedRecord& record, uint64_t hash) {
  Shared* entry = EntryOf(record, hash);
  if (Holds(*entry, record, hash)) return entry->offset;
  const uint32_t bytes = PayloadBytes(record.details_bytes);
  char* room = ReserveEntry(track_, bytes);
  if (room == nullptr) return 0;
  const PayloadHeader header{bytes, 0, 0};
  std::memcpy(room, &header, sizeof(header));
  std::memcpy(room + sizeof(header), record.details, record.details_bytes);
  const uint32_t end = static_cast<uint32_t>(sizeof(header)) + record.details_bytes;
  std::memset(room + end, 0, bytes - end);
  const uint32_t offset = OffsetInChunk(track_, room);
  if (track_->chunk_sequence == known_chunk_) {
    *entry = {.hash = hash, .offset = offset, .bytes = record.details_bytes, .chunk = known_chunk_};
  }
  return offset;
}

void TrackWriter::BeginChunk() {
  known_chunk_ = track_->chunk_sequence;
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

bool TrackWriter::WriteNew(const DecodedRecord& record, uint64_t hash) {
  for (int tries = 0; tries < 4; ++tries) {
    if (OPSCOPE_UNLIKELY(!HasRoom(track_, 0)) && !opscope_make_room(track_, 0)) break;
    if (OPSCOPE_UNLIKELY(track_->chunk_sequence != known_chunk_)) BeginChunk();
    const uint32_t chunk = track_->chunk_sequence;
    const uint32_t name = record.name == nullptr ? 0 : InternText(track_, record.name, std::strlen(record.name));
    if (OPSCOPE_UNLIKELY(track_->chunk_sequence != chunk)) continue;  // the name needed the next one
    const uint32_t payload = PayloadOf(record, hash);
    if (OPSCOPE_UNLIKELY(payload == 0)) break;
    if (OPSCOPE_UNLIKELY(track_->chunk_sequence != chunk)) continue;
    Shared* shared = EntryOf(record, hash);
    // At the cap there may be no room for the name; a later name may fit.
    if (Holds(*shared, record, hash) && (name != 0 || record.name == nullptr)) {
      shared->name = record.name, shared->name_offset = name;
    }
    Record made;
    FillRecord(record, name, payload, &made);
    AppendRecord(track_, made);
    return true;
  }
  CountDrop(track_);
  return false;
}

bool TrackWriter::Write(const DecodedRecord& record) {
  if (record.event == CudaEvent::kDevice && !is_defining_) {
    devices_.emplace_back(record, record.name == nullptr ? "" : record.name);
  }
  const uint64_t hash = HashOf(record);
  const bool has_chunk = track_->chunk_sequence == known_chunk_ && HasRoom(track_, 0);
  const Shared* known = has_chunk ? Find(record, hash) : nullptr;
  if (OPSCOPE_UNLIKELY(known == nullptr || !HasName(*known, record.name))) return WriteNew(record, hash);
  Record* next = track_->next;
  FillRecord(record, known->name_offset, known->offset, next);
  PublishNext(track_, next);
  return true;
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
