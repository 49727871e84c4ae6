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

class RecordingMemory {
 public:
  explicit RecordingMemory(TraceBuilder* builder) : builder_(builder) {}

  void AddHostBlock(const Record& record, Timestamp time, int64_t pid, TrackId track);
  void AddAllocation(const AllocationRow& row);
  // Adds the rows to the builder, by time. Frees of unknown size are left out and counted. Totals count the blocks of a
  // process that the recording saw allocated or freed.
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
  static constexpr uint32_t kNoRow = 0xffffffff, kUnsure = 0xfffffffe;
  struct Lost {
    size_t event;
    int64_t bytes;
  };

  std::map<int64_t, int64_t> FindSizes(std::vector<Lost>* lost);

  TraceBuilder* builder_;
  Column<Event> events_;
  std::vector<AllocationRow> whole_;
};

}  // namespace opscope
