// SPDX-License-Identifier: Apache-2.0
#include "import/recording_memory.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <map>

#include "base/natural_sort.h"

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
  const auto bytes = static_cast<int64_t>(std::min<uint64_t>(record.value, INT64_MAX));
  events_.push_back({time, BlockAddress(record), bytes, pid, track, kNoRow});
}

void RecordingMemory::AddAllocation(const AllocationRow& row) {
  events_.push_back({row.time, row.address, row.bytes, 0, row.track, static_cast<uint32_t>(whole_.size())});
  whole_.push_back(row);
}

void RecordingMemory::Finish() {
  if (events_.empty()) return;
  // One thread records in order of time.
  NaturalSort(&events_, [](const Event& a, const Event& b) { return a.time < b.time; });
  const StringId name = builder_->Intern("[memory]");
  const StringId category = builder_->Intern("cpu_instant_event");
  std::map<int64_t, HostBlocks> processes;
  uint64_t unknown = 0;
  for (const Event& event : events_.view()) {
    AllocationRow row;
    if (event.whole != kNoRow) {
      row = whole_[event.whole];
    } else {
      row = {.time = event.time, .track = event.track, .address = event.address, .bytes = event.bytes};
      processes[event.pid].Count(&row);
      if (row.bytes == 0) {
        ++unknown;
        continue;
      }
    }
    // Both tables, as the Chrome importer does: the n-th of both belong to each other.
    builder_->AddInstant({.time = row.time, .name = name, .category = category, .track = row.track});
    builder_->AddAllocation(row);
  }
  events_ = {};
  whole_.clear();
  if (unknown > 0) builder_->AddProblem("unknown_block", -1, unknown);
}

}  // namespace opscope
