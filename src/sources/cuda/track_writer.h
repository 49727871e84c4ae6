// Writes decoded records of CUPTI into the track of one window, 32 bytes per record. Details that records have in
// common (the grid and block of a kernel that is launched again and again) are written once per chunk and shared.
//
// Thread rule: one thread at a time, as the track.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "opscope/recorder.h"
#include "sources/cuda/cupti_decode.h"

namespace opscope::cuda {

// CUPTI's clock and the recorder's, read together.
struct ClockPair {
  uint64_t cupti_ns = 0, ticks = 0;
  uint64_t bound_ticks = 0;  // the most time between the two readings
};

class TrackWriter {
 public:
  // read_clock: called once for each chunk.
  TrackWriter(Stream* track, ClockPair (*read_clock)()) : track_(track), read_clock_(read_clock) {}

  // False: the track has no room; the record is counted as dropped.
  bool Write(const DecodedRecord& record);
  void WriteClock(const ClockPair& pair);
  Stream* track() const { return track_; }

 private:
  // Details that are in the chunk, and the name of the last record with them. The next one mostly has the same name.
  struct Shared {
    uint64_t hash = 0;
    uint32_t offset = 0, bytes = 0;
    const char* name = nullptr;
    uint32_t name_offset = 0;
    uint32_t chunk = 0xffffffff;
  };
  static constexpr uint32_t kSharedBits = 11;
  static constexpr size_t kSharedEntries = size_t{1} << kSharedBits;

  bool WriteNew(const DecodedRecord& record, uint64_t hash);
  bool Holds(const Shared& shared, const DecodedRecord& record, uint64_t hash) const;
  bool HasName(const Shared& shared, const char* name) const;
  // Null: the details are not in the chunk, or their entry was replaced.
  const Shared* Find(const DecodedRecord& record, uint64_t hash) const {
    const size_t first = hash >> (64 - kSharedBits);
    for (size_t i = 0; i < 4; ++i) {
      const Shared& entry = shared_[first ^ i];
      if (Holds(entry, record, hash)) return &entry;
    }
    return nullptr;
  }
  // The entry of the details, or the one to use for them. Four-way associative, so that entries in use are rarely
  // replaced.
  Shared* EntryOf(const DecodedRecord& record, uint64_t hash) {
    const size_t first = hash >> (64 - kSharedBits);
    for (size_t i = 0; i < 4; ++i) {
      Shared* entry = &shared_[first ^ i];
      if (entry->chunk != known_chunk_ || Holds(*entry, record, hash)) return entry;
    }
    return &shared_[first];
  }
  // Offset of the record's details in the current chunk; 0: no room.
  uint32_t PayloadOf(const DecodedRecord& record, uint64_t hash);
  void BeginChunk();

  Stream* track_;
  ClockPair (*read_clock_)();
  bool is_defining_ = false;
  uint32_t known_chunk_ = 0xffffffff;
  std::vector<Shared> shared_ = std::vector<Shared>(kSharedEntries);
  // Written into each chunk, because a chunk is self-contained.
  std::vector<std::pair<DecodedRecord, std::string>> devices_;
};

}  // namespace opscope::cuda
