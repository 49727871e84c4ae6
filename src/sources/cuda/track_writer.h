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
  uint64_t bound_ticks = 0;  // how far apart they may have been
};

class TrackWriter {
 public:
  // read_clock: asked for each chunk.
  TrackWriter(Stream* track, ClockPair (*read_clock)()) : track_(track), read_clock_(read_clock) {}

  // False: there was no room, and it is counted as dropped.
  bool Write(const DecodedRecord& record);
  void WriteClock(const ClockPair& pair);
  Stream* track() const { return track_; }

 private:
  // Details that are in a chunk, and the name that came with them: mostly it does again.
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
  // Null: they are not in the chunk, or were driven out.
  const Shared* Find(const DecodedRecord& record, uint64_t hash) const {
    const size_t home = hash >> (64 - kSharedBits);
    for (size_t i = 0; i < 4; ++i) {
      const Shared& place = shared_[home ^ i];
      if (Holds(place, record, hash)) return &place;
    }
    return nullptr;
  }
  // Where they are or may be put: one of four places, so that few details drive out others that come again.
  Shared* PlaceOf(const DecodedRecord& record, uint64_t hash) {
    const size_t home = hash >> (64 - kSharedBits);
    for (size_t i = 0; i < 4; ++i) {
      Shared* place = &shared_[home ^ i];
      if (place->chunk != known_chunk_ || Holds(*place, record, hash)) return place;
    }
    return &shared_[home];
  }
  // Offset of the record's details in the current chunk, 0: there was no room.
  uint32_t SideOf(const DecodedRecord& record, uint64_t hash);
  void BeginChunk();

  Stream* track_;
  ClockPair (*read_clock_)();
  bool is_defining_ = false;
  uint32_t known_chunk_ = 0xffffffff;
  std::vector<Shared> shared_ = std::vector<Shared>(kSharedEntries);
  std::vector<std::pair<DecodedRecord, std::string>> devices_;  // said again in each chunk
};

}  // namespace opscope::cuda
