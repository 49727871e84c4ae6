// Allocations of a recording. The record of a free has an address and, unless the recorder knew the block, no size; the
// block may have been allocated by another thread. So sizes and running totals are computed here, when the records of
// all threads are there.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/column.h"
#include "opscope/record.h"
#include "trace/builder.h"

namespace opscope {

// Bytes of Paddle's CPU allocator at one time (kHostMemoryKey).
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
  // Allocations that failed: of the CPU's allocator, which gives no totals, and of a device's.
  void AddOutOfMemory(Timestamp time, int64_t bytes, int64_t pid, TrackId track);
  void AddOutOfMemory(const AllocationRow& row);
  void AddHostMemory(const HostMemory& memory) { host_memory_.push_back(memory); }
  // Adds the rows to the builder, by time. Frees of unknown size are left out and counted. Totals count the blocks of a
  // process that were allocated or freed during the recording; Paddle's continue from its HostMemory.
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
  // kAllocated, kFreed: of Paddle, whose records of frees have their bytes. kFailed: an allocation of the CPU's
  // allocator that failed.
  static constexpr uint32_t kNoRow = 0xffffffff, kUnsure = 0xfffffffe, kAllocated = 0xfffffffd, kFreed = 0xfffffffc;
  static constexpr uint32_t kFailed = 0xfffffffb, kFirstWord = kFailed;
  // An event of a device, whose allocator gives bytes and totals with each event.
  struct Whole {
    AllocationRow row;
    bool is_failed;
  };
  struct Lost {
    size_t event;
    int64_t bytes;
  };

  std::map<int64_t, int64_t> FindSizes(std::vector<Lost>* lost);
  AllocationRow PaddleRow(const Event& event, StringId* extra);
  void AddWhole(const AllocationRow& row, bool is_failed);
  void AddFailedAllocation(const AllocationRow& row);

  TraceBuilder* builder_;
  Column<Event> events_;
  std::vector<Whole> whole_;
  std::vector<HostMemory> host_memory_;  // sorted by time in Finish
  size_t next_host_memory_ = 0;          // index of the first one after the current event
  std::map<int64_t, HostMemory> paddle_;
};

}  // namespace opscope
