// Allocations of a recording. A freed block is recorded by its address alone, for its size is known to
// whoever allocated it, maybe on another thread; so sizes and running totals are found here, when the
// records of all threads stand in order of time.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/column.h"
#include "opscope/record.h"
#include "trace/builder.h"

namespace opscope {

class RecordingMemory {
 public:
  explicit RecordingMemory(TraceBuilder* builder) : builder_(builder) {}

  void AddHostBlock(const Record& record, Timestamp time, int64_t pid, TrackId track);
  void AddAllocation(const AllocationRow& row);
  // Adds the rows to the builder, by time. Frees of blocks that the recording did not see allocated have no
  // size: they are left out and counted. Totals count the blocks of this recording and process.
  void Finish();

 private:
  struct Event {
    Timestamp time;
    uint64_t address;
    int64_t bytes;
    int64_t pid;
    TrackId track;
    uint32_t whole;  // row of whole_, kNoRow for a block of the host
  };
  static constexpr uint32_t kNoRow = 0xffffffff;

  TraceBuilder* builder_;
  Column<Event> events_;
  std::vector<AllocationRow> whole_;
};

}  // namespace opscope
