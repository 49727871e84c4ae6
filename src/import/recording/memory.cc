// Allocators report a free by address alone, or not at all when another block has the address already. All events of a
// process are sorted by time and played once through a table of live blocks: an allocation enters its size, a free
// takes it out. What a process held before the window is the sum of frees whose allocation was not seen; running totals
// begin there, so a second pass gives each event its total. Threads record in order of time, so the sort looks for runs
// first (base/natural_sort.h).
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/memory.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "base/json_object.h"
#include "base/natural_sort.h"
#include "base/saturating.h"
#include "import/paddle/memory_members.h"

namespace opscope {
namespace {

// The sizes of what a process holds of the CPU's allocator, and what it holds in all.
class HostBlocks {
 public:
  struct Change {
    int64_t bytes = 0;  // 0: not known
    bool is_from_before = false;
    int64_t lost = 0;  // of the block that had the address, whose end was not recorded
  };
  // bytes: below 0 of a free, as the recorder knew it.
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
  if (record.source == RecordSource::kPaddle) {
    events_.push_back(
        {time, BlockAddress(record), is_freed ? -bytes : bytes, pid, track, is_freed ? kFreed : kAllocated});
    return;
  }
  const uint32_t whole = (record.flags & record_flags::kUnsure) != 0 ? kUnsure : kNoRow;
  events_.push_back({time, BlockAddress(record), is_freed ? -bytes : bytes, pid, track, whole});
}

void RecordingMemory::AddWhole(const AllocationRow& row, bool is_failed) {
  events_.push_back({row.time, row.address, row.bytes, 0, row.track, static_cast<uint32_t>(whole_.size())});
  whole_.push_back({row, is_failed});
}

void RecordingMemory::AddAllocation(const AllocationRow& row) {
  AddWhole(row, false);
}

void RecordingMemory::AddOutOfMemory(const AllocationRow& row) {
  AddWhole(row, true);
}

void RecordingMemory::AddOutOfMemory(Timestamp time, int64_t bytes, int64_t pid, TrackId track) {
  events_.push_back({time, 0, bytes, pid, track, kFailed});
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

// A row of the CPU's allocator, as Paddle's own files have it.
AllocationRow RecordingMemory::PaddleRow(const Event& event, StringId* extra) {
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
  *extra = builder_->Intern(PaddleAllocationMembers(event.whole == kFreed ? "Free" : "Allocate", "Place(cpu)",
                                                    static_cast<uint64_t>(memory.peak_allocated),
                                                    static_cast<uint64_t>(memory.peak_reserved)));
  return {.time = event.time,
          .track = event.track,
          .address = event.address,
          .bytes = event.bytes,
          .total_allocated = memory.allocated,
          .total_reserved = memory.reserved};
}

// Gives every event of the host its bytes and returns what each process held at the beginning of what it freed later.
std::map<int64_t, int64_t> RecordingMemory::FindSizes(std::vector<Lost>* lost) {
  std::map<int64_t, HostBlocks> processes;
  std::map<int64_t, int64_t> held;
  for (size_t i = 0; i < events_.size(); ++i) {
    Event& event = events_[i];
    if (event.whole < kUnsure) continue;  // knows them
    const HostBlocks::Change change = processes[event.pid].Apply(event.address, event.bytes);
    event.bytes = change.bytes;
    if (!change.is_from_before) event.whole = kNoRow;
    if (change.is_from_before) {
      int64_t& bytes = held[event.pid];
      bytes = SaturatingSubtract(bytes, change.bytes);
    }
    if (change.lost != 0) lost->push_back({i, change.lost});
  }
  return held;
}

void RecordingMemory::Finish() {
  if (events_.empty()) return;
  // One thread records in order of time.
  NaturalSort(&events_, [](const Event& a, const Event& b) { return a.time < b.time; });
  const StringId name = builder_->Intern("[memory]");
  const StringId category = builder_->Intern("cpu_instant_event");
  std::stable_sort(host_memory_.begin(), host_memory_.end(),
                   [](const HostMemory& a, const HostMemory& b) { return a.time < b.time; });
  std::vector<Lost> lost;
  std::map<int64_t, int64_t> totals = FindSizes(&lost);
  uint64_t unknown = 0, unsure = 0;
  size_t next_lost = 0;
  for (size_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    AllocationRow row;
    StringId extra = StringId::kNone;
    const bool is_failed = event.whole < kFirstWord ? whole_[event.whole].is_failed : event.whole == kFailed;
    if (event.whole < kFirstWord) {
      row = whole_[event.whole].row;
    } else if (is_failed) {
      row = {.time = event.time, .track = event.track, .bytes = event.bytes, .total_reserved = 0};
      row.total_allocated = totals[event.pid];
    } else if (event.whole < kUnsure) {
      row = PaddleRow(event, &extra);
    } else if (event.bytes == 0) {
      ++unknown;
      continue;
    } else {
      int64_t& total = totals[event.pid];
      if (next_lost < lost.size() && lost[next_lost].event == i) {
        total = SaturatingSubtract(total, lost[next_lost++].bytes);
      }
      total = SaturatingAdd(total, event.bytes);
      row = {.time = event.time, .track = event.track, .address = event.address, .bytes = event.bytes};
      row.total_allocated = total;
      row.total_reserved = 0;
      if (event.whole == kUnsure) extra = builder_->Intern("\"upper bound\":true"), ++unsure;
    }
    if (is_failed) {
      AddFailedAllocation(row);
      continue;
    }
    // Both tables, as the Chrome importer does: the n-th of both belong to each other.
    builder_->AddInstant({.time = row.time, .name = name, .category = category, .track = row.track, .extra = extra});
    builder_->AddAllocation(row);
  }
  events_ = {};
  whole_.clear();
  if (unknown > 0) builder_->AddProblem("unknown_block", -1, unknown);
  if (unsure > 0) builder_->AddProblem("unsure_block", -1, unsure);
}

}  // namespace opscope
