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
  void AddAllocation(const AllocationRow& row);
  // Allocations that failed: of the CPU's allocator, which gives no totals, and of a device's.
  void AddOutOfMemory(Timestamp time, int64_t bytes, int64_t pid, TrackId track);
  void AddOutOfMemory(const AllocationRow& row);
  void AddHostMemory(const HostMemory& memory) { host_memory_.push_back(memory); }
  // Adds the rows to the builder, by time. Frees of unknown size are left out and counted. Totals count the blocks of a
  // process that were allocated or freed during the recording; Paddle's continue from its HostMemory.
  void Finish();

 private:
  enum class EventKind : uint8_t {
    kDevice,           // of a device, whose allocator gives bytes and totals with each event
    kHost,             // of the CPU's allocator
    kHostUnsure,       // the same; its bytes may be too many
    kPaddleAllocated,  // of Paddle's CPU allocator, whose records have the bytes of frees too
    kPaddleFreed,
    kHostFailed,  // an allocation of the CPU's allocator that failed
  };
  // Kept for every event until the end, so `kind` and the union leave it at 40 bytes.
  struct Event {
    Timestamp time;
    union {
      uint64_t address;
      uint64_t device_row;  // of kDevice, in device_events_
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
  // Of the blocks of the CPU's allocator, while the events are played.
  struct HostTotals {
    std::map<int64_t, int64_t> bytes;  // by process
    std::vector<Lost> lost;
    size_t next_lost = 0;  // index of the first one after the current event
  };
  struct EventRow {
    AllocationRow row;
    StringId extra = StringId::kNone;
    bool is_failed = false;
    bool is_upper_bound = false;  // its bytes are
  };

  HostTotals FindSizes();
  // Unset: a free of unknown size. Called in the order of the events, once for each.
  std::optional<EventRow> RowOf(size_t i, HostTotals* totals);
  EventRow HostRow(size_t i, HostTotals* totals);
  EventRow PaddleRow(const Event& event);
  void AddDeviceEvent(const AllocationRow& row, bool is_failed);
  void AddFailedAllocation(const AllocationRow& row);

  TraceBuilder* builder_;
  Column<Event> events_;
  std::vector<DeviceEvent> device_events_;
  std::vector<HostMemory> host_memory_;  // sorted by time in Finish
  size_t next_host_memory_ = 0;          // index of the first one after the current event
  std::map<int64_t, HostMemory> paddle_;
};

}  // namespace opscope
