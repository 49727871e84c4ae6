// Allocators report a free by address alone, or not at all if another block has the address already. All events of a
// process are sorted by time and replayed through a table of live blocks: an allocation inserts its size, a free
// removes it. The memory in use before the window is the sum of the frees without an allocation; running totals begin
// with it, so a second pass computes the total of each event. Threads record in order of time, so the sort looks for
// sorted runs first (base/natural_sort.h).
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/memory.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/json_object.h"
#include "base/natural_sort.h"
#include "base/saturating.h"
#include "import/paddle/memory_members.h"

namespace opscope {
namespace {

// The blocks of the CPU's allocator in one process, and their total size.
class HostBlocks {
 public:
  struct Change {
    int64_t bytes = 0;  // 0: unknown
    bool is_from_before = false;
    int64_t lost = 0;  // bytes of the previous block at this address, whose free was not recorded
  };
  // bytes: negative for a free of known size
  Change Apply(uint64_t address, int64_t bytes) {
    if (bytes > 0) {
      const auto [block, is_new] = bytes_.try_emplace(address, bytes);
      const int64_t lost = is_new ? 0 : block->second;
      block.value() = bytes;
      return {.bytes = bytes, .lost = lost};
    }
    const auto block = bytes_.find(address);
    if (block == bytes_.end()) return {.bytes = bytes, .is_from_before = true};
    const int64_t own = block->second;
    bytes_.erase(block);
    return {.bytes = -own};
  }

 private:
  tsl::robin_map<uint64_t, int64_t> bytes_;
};

}  // namespace

void RecordingMemory::AddHostBlock(const Record& record, Timestamp time, int64_t pid, TrackId track) {
  const auto bytes = static_cast<int64_t>(std::min<uint64_t>(record.value, INT64_MAX));
  const bool is_freed = (record.flags & record_flags::kFreed) != 0;
  EventKind kind = (record.flags & record_flags::kUnsure) != 0 ? EventKind::kHostUnsure : EventKind::kHost;
  if (record.source == RecordSource::kPaddle) kind = is_freed ? EventKind::kPaddleFreed : EventKind::kPaddleAllocated;
  events_.push_back({time, {.address = BlockAddress(record)}, is_freed ? -bytes : bytes, pid, track, kind});
}

void RecordingMemory::AddDeviceEvent(const AllocationRow& row, bool is_failed) {
  events_.push_back({row.time, {.device_row = device_events_.size()}, row.bytes, 0, row.track, EventKind::kDevice});
  device_events_.push_back({row, is_failed});
}

void RecordingMemory::AddFailedHostBlock(Timestamp time, int64_t bytes, int64_t pid, TrackId track) {
  events_.push_back({time, {.address = 0}, bytes, pid, track, EventKind::kHostFailed});
}

void RecordingMemory::AddFailedAllocation(const AllocationRow& row) {
  std::string members;
  JsonMemberWriter(&members)
      .Int("Total Reserved", row.total_reserved)
      .Int("Total Allocated", row.total_allocated)
      .Int("Bytes", row.bytes)
      .Int("Device Id", row.device)
      .Int("Device Type", row.device_type);
  builder_->AddInstant({.time = row.time,
                        .name = builder_->Intern("[OutOfMemory]"),
                        .category = builder_->Intern("cpu_instant_event"),
                        .track = row.track,
                        .extra = builder_->Intern(members)});
}

// Makes a row of the CPU's allocator, as in Paddle's own files.
RecordingMemory::EventRow RecordingMemory::PaddleRow(const Event& event) {
  for (; next_host_memory_ < host_memory_.size(); ++next_host_memory_) {
    const HostMemory& next = host_memory_[next_host_memory_];
    if (next.time > event.time) break;
    paddle_[next.pid] = next;
  }
  HostMemory& memory = paddle_[event.pid];
  memory.allocated = WrappingAdd(memory.allocated, event.bytes);
  memory.reserved = WrappingAdd(memory.reserved, event.bytes);
  memory.peak_allocated = std::max(memory.peak_allocated, memory.allocated);
  memory.peak_reserved = std::max(memory.peak_reserved, memory.reserved);
  const std::string members = PaddleAllocationMembers(event.kind == EventKind::kPaddleFreed ? "Free" : "Allocate",
                                                      "Place(cpu)", static_cast<uint64_t>(memory.peak_allocated),
                                                      static_cast<uint64_t>(memory.peak_reserved));
  return {.row = {.time = event.time,
                  .track = event.track,
                  .address = event.address,
                  .bytes = event.bytes,
                  .total_allocated = memory.allocated,
                  .total_reserved = memory.reserved},
          .extra = builder_->Intern(members)};
}

// Computes the bytes of every host event. The totals begin with the memory that each process had before the window and
// freed within it.
RecordingMemory::HostTotals RecordingMemory::FindSizes() {
  std::map<int64_t, HostBlocks> processes;
  HostTotals totals;
  for (size_t i = 0; i < events_.size(); ++i) {
    Event& event = events_[i];
    if (event.kind != EventKind::kHost && event.kind != EventKind::kHostUnsure) continue;  // its bytes are known
    const HostBlocks::Change change = processes[event.pid].Apply(event.address, event.bytes);
    event.bytes = change.bytes;
    if (!change.is_from_before) event.kind = EventKind::kHost;
    if (change.is_from_before) {
      int64_t& bytes = totals.bytes[event.pid];
      bytes = SaturatingSubtract(bytes, change.bytes);
    }
    if (change.lost != 0) totals.lost.push_back({i, change.lost});
  }
  return totals;
}

RecordingMemory::EventRow RecordingMemory::HostRow(size_t i, HostTotals* totals) {
  const Event& event = events_[i];
  int64_t& total = totals->bytes[event.pid];
  if (totals->next_lost < totals->lost.size() && totals->lost[totals->next_lost].event == i) {
    total = SaturatingSubtract(total, totals->lost[totals->next_lost++].bytes);
  }
  total = SaturatingAdd(total, event.bytes);
  EventRow row{.row = {.time = event.time, .track = event.track, .address = event.address, .bytes = event.bytes}};
  row.row.total_allocated = total;
  row.row.total_reserved = 0;
  row.is_upper_bound = event.kind == EventKind::kHostUnsure;
  if (row.is_upper_bound) row.extra = builder_->Intern("\"upper bound\":true");
  return row;
}

std::optional<RecordingMemory::EventRow> RecordingMemory::RowOf(size_t i, HostTotals* totals) {
  const Event& event = events_[i];
  switch (event.kind) {
    case EventKind::kDevice: {
      const DeviceEvent& device_event = device_events_[event.device_row];
      return EventRow{.row = device_event.row, .is_failed = device_event.is_failed};
    }
    case EventKind::kHostFailed: {
      EventRow row{.row = {.time = event.time, .track = event.track, .bytes = event.bytes}, .is_failed = true};
      row.row.total_allocated = totals->bytes[event.pid];
      row.row.total_reserved = 0;
      return row;
    }
    case EventKind::kPaddleAllocated:
    case EventKind::kPaddleFreed:
      return PaddleRow(event);
    case EventKind::kHost:
    case EventKind::kHostUnsure:
      break;
  }
  if (event.bytes == 0) return std::nullopt;
  return HostRow(i, totals);
}

void RecordingMemory::Finish() {
  if (events_.empty()) return;
  // One thread records in order of time.
  NaturalSort(&events_, [](const Event& a, const Event& b) { return a.time < b.time; });
  const StringId name = builder_->Intern("[memory]");
  const StringId category = builder_->Intern("cpu_instant_event");
  std::stable_sort(host_memory_.begin(), host_memory_.end(),
                   [](const HostMemory& a, const HostMemory& b) { return a.time < b.time; });
  HostTotals totals = FindSizes();
  uint64_t unknown = 0, unsure = 0;
  for (size_t i = 0; i < events_.size(); ++i) {
    const std::optional<EventRow> event = RowOf(i, &totals);
    if (!event) {
      ++unknown;
      continue;
    }
    const AllocationRow& row = event->row;
    if (event->is_failed) {
      AddFailedAllocation(row);
      continue;
    }
    unsure += event->is_upper_bound ? 1 : 0;
    // Added to both tables, like the Chrome importer: the n-th rows of both belong together.
    builder_->AddInstant(
        {.time = row.time, .name = name, .category = category, .track = row.track, .extra = event->extra});
    builder_->AddAllocation(row);
  }
  events_ = {};
  device_events_.clear();
  if (unknown > 0) builder_->AddProblem("unknown_block", -1, unknown);
  if (unsure > 0) builder_->AddProblem("unsure_block", -1, unsure);
}

}  // namespace opscope
