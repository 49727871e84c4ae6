// Allocations of a recording. What the size of a freed block was is known to whoever allocated it, maybe on
// another thread, and of blocks from before the recording to the recorder, maybe; so sizes and running totals are
// found here, when the records of all threads stand in order of time.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/column.h"
#include "opscope/record.h"
#include "trace/builder.h"

namespace opscope {

// What a window was told of the CPU's allocator of Paddle at a moment (kHostMemoryKey).
struct HostMemory {
  Timestamp time;
  int64_t pid = 0;
  int64_t allocated = 0, reserved = 0, peak_allocated = 0, peak_reserved = 0;
};

class RecordingMemory {
 public:
  explicit RecordingMemory(TraceBuilder* builder) : builder_(builder) {}

  void AddHostBlock(const Record& record, Timestamp time, int64_t pid, TrackId track);
  void AddAllocation(const AllocationRow& row);
  // Requests that an allocator had no memory for: of the CPU's, which says no totals, and of a device's.
  void AddOutOfMemory(Timestamp time, int64_t bytes, int64_t pid, TrackId track);
  void AddOutOfMemory(const AllocationRow& row);
  void TellHostMemory(const HostMemory& told) { told_.push_back(told); }
  // Adds the rows to the builder, by time. Frees of unknown size are left out and counted. Totals count the blocks of a
  // process that the recording saw allocated or freed; Paddle's count on from what was told.
  void Finish();

 private:
  struct Event {
    Timestamp time;
    uint64_t address;
    int64_t bytes;
    int64_t pid;
    TrackId track;
    uint32_t whole;  // row of whole_, or one of the following for a block of the host
  };
  // kAllocated, kFreed: of Paddle's, which says the bytes of a free itself. kRefused: a request that the CPU's
  // allocator had no memory for.
  static constexpr uint32_t kNoRow = 0xffffffff, kUnsure = 0xfffffffe, kAllocated = 0xfffffffd, kFreed = 0xfffffffc;
  static constexpr uint32_t kRefused = 0xfffffffb, kFirstWord = kRefused;
  // Of a device, whose allocator says all there is.
  struct Whole {
    AllocationRow row;
    bool is_refused;
  };
  struct Lost {
    size_t event;
    int64_t bytes;
  };

  std::map<int64_t, int64_t> FindSizes(std::vector<Lost>* lost);
  AllocationRow PaddleRow(const Event& event, StringId* extra);
  void AddWhole(const AllocationRow& row, bool is_refused);
  void AddRefusal(const AllocationRow& row);

  TraceBuilder* builder_;
  Column<Event> events_;
  std::vector<Whole> whole_;
  std::vector<HostMemory> told_;  // while Finish runs those that are still to come, the newest last
  std::map<int64_t, HostMemory> paddle_;
};

}  // namespace opscope
