// SPDX-License-Identifier: Apache-2.0
#include "import/recording_memory.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <map>

namespace opscope {
namespace {

// What a process holds of the CPU's allocator.
class HostBlocks {
 public:
  // Sets bytes (0: not known) and the total after it.
  void Count(AllocationRow* row) {
    if (row->bytes > 0) {
      const auto [block, is_new] = bytes_.try_emplace(row->address, row->bytes);
      if (!is_new) {  // its end was not recorded
        total_ -= block->second;
        block.value() = row->bytes;
      }
      total_ += row->bytes;
    } else if (const auto block = bytes_.find(row->address); block != bytes_.end()) {
      row->bytes = -block->second;
      total_ += row->bytes;
      bytes_.erase(block);
    }
    row->total_allocated = total_;
    row->total_reserved = 0;
  }

 private:
  tsl::robin_map<uint64_t, int64_t> bytes_;
  int64_t total_ = 0;
};

}  // namespace

void RecordingMemory::AddHostBlock(const Record& record, Timestamp time, int64_t pid, TrackId track) {
  AllocationRow row;
  row.time = time;
  row.track = track;
  row.address = BlockAddress(record);
  row.bytes = static_cast<int64_t>(std::min<uint64_t>(record.value, INT64_MAX));
  events_.push_back({row, pid, false});
}

void RecordingMemory::Finish() {
  if (events_.empty()) return;
  // One thread records in order of time, and sorting moves every row some twenty times.
  const auto by_time = [](const Event& a, const Event& b) { return a.row.time < b.row.time; };
  if (!std::is_sorted(events_.begin(), events_.end(), by_time)) {
    std::stable_sort(events_.begin(), events_.end(), by_time);
  }
  const StringId name = builder_->Intern("[memory]");
  const StringId category = builder_->Intern("cpu_instant_event");
  std::map<int64_t, HostBlocks> processes;
  uint64_t unknown = 0;
  for (Event& event : events_) {
    if (!event.is_whole) {
      processes[event.pid].Count(&event.row);
      if (event.row.bytes == 0) {
        ++unknown;
        continue;
      }
    }
    // Both tables, as the Chrome importer does: the n-th of both belong to each other.
    builder_->AddInstant({.time = event.row.time, .name = name, .category = category, .track = event.row.track});
    builder_->AddAllocation(event.row);
  }
  events_.clear();
  if (unknown > 0) builder_->AddProblem("unknown_block", -1, unknown);
}

}  // namespace opscope
