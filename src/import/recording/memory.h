// Allocations of a recording. The record of a free has an address, but a size only if the recorder knew the block,
// which another thread may have allocated. So sizes and running totals are computed here, after the records of all
// threads were read.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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
  // An allocation that failed. The CPU's allocator reports no totals.
  void AddFailedHostBlock(Timestamp time, int64_t bytes, int64_t pid, TrackId track);
  void AddDeviceEvent(const AllocationRow& row, bool is_failed);
  void AddHostMemory(const HostMemory& memory) { host_memory_.push_back(memory); }
  // Adds the rows to the builder, by time. Frees of unknown size are left out and counted. Totals count the blocks of a
  // process that were allocated or freed during the recording; Paddle's continue from its HostMemory.
  void Finish();

 private:
  enum class EventKind : uint8_t {
    kDevice,           // on a device, whose allocator reports bytes and totals with each event
    kHost,             // of the CPU's allocator
    kHostUnsure,       // the same; its bytes are an upper bound
    kPaddleAllocated,  // by Paddle's CPU allocator, whose records of frees have bytes, too
    kPaddleFreed,
    kHostFailed,  // a failed allocation of the CPU's allocator
  };
  // An event is in memory until the end, so it is kept at 40 bytes.
  struct Event {
    Timestamp time;
    union {
      uint64_t address;
      uint64_t device_row;  // for kDevice: index in device_events_
    };
    int64_t bytes;
    int64_t pid;
    TrackId track;
    EventKind kind;
  };
  static_assert(sizeof(Event) == 40);
  struct DeviceEvent {
    AllocationRow row;
    bool is_failed;
  };
  struct Lost {
    size_t event;
    int64_t bytes;
  };
  // Running totals of the CPU's allocator during the replay.
  struct HostTotals {
    std::map<int64_t, int64_t> bytes;  // by process
    std::vector<Lost> lost;
    size_t next_lost = 0;  // index of the first one after the current event
  };
  struct EventRow {
    AllocationRow row;
    StringId extra = StringId::kNone;
    bool is_failed = false;
    bool is_upper_bound = false;  // of `bytes`
  };

  HostTotals FindSizes();
  // nullopt: a free of unknown size. Call once for each event, in order.
  std::optional<EventRow> RowOf(size_t i, HostTotals* totals);
  EventRow HostRow(size_t i, HostTotals* totals);
  EventRow PaddleRow(const Event& event);
  void AddFailedAllocation(const AllocationRow& row);

  TraceBuilder* builder_;
  Column<Event> events_;
  std::vector<DeviceEvent> device_events_;
  std::vector<HostMemory> host_memory_;  // sorted by time in Finish
  size_t next_host_memory_ = 0;          // index of the first one after the current event
  std::map<int64_t, HostMemory> paddle_;
};

}  // namespace opscope
