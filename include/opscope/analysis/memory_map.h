// The blocks of memory over address and time: for each allocation the rectangle
// [allocated, freed) x [address, address + size). docs/reference/memory.md, "Blocks", has
// the rules.
//
//   for (const MemoryMapDevice& device : MapMemory(trace, BuildMemoryTimeline(trace)))
//     for (const MemoryMapBlock& block : device.blocks)
//       Draw(block.begin_ns, block.end_ns, block.address, block.bytes);
//
// The input is the table `allocations`; where it has no rows, `tensor_lives` (MegEngine).
//
// Thread rule: pure function of an immutable Trace; the result refers to its strings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "opscope/analysis/memory_usage.h"
#include "opscope/trace.h"

namespace opscope {

struct MemoryTimeline;  // opscope/torch/memory_timeline.h

// One block.
struct MemoryMapBlock {
  uint64_t address = 0;
  // Above 0.
  int64_t bytes = 0;
  // In nanoseconds since the trace's epoch; begin_ns <= end_ns.
  int64_t begin_ns = 0, end_ns = 0;
  // Allocated before the recording: begin_ns is the begin of the recording.
  bool is_before = false;
  // Not freed within the recording: end_ns is its end.
  bool is_kept = false;
  // The operator that allocated it; of a tensor life the tensor. kNone: unknown.
  StringId name = StringId::kNone;
  // Where the program asked for it; kNone: not recorded.
  StackId stack = StackId::kNone;
  // MemoryCategoryName of what it was used for last; "": unknown.
  std::string_view category = {};
};

// The blocks of one device.
struct MemoryMapDevice {
  MemoryPlace place;
  // Of tensor lives the stream of the device, which names it; else kNone.
  TrackId track = TrackId::kNone;
  // The largest bytes x (lifetime + 1) first, ties in the order of the input.
  std::vector<MemoryMapBlock> blocks;
  // Further blocks, smaller ones, and the sum of their sizes.
  uint64_t left_out = 0;
  int64_t left_out_bytes = 0;
  // Allocations whose address is unknown (0), which are no blocks.
  uint64_t without_address = 0;
};

// By device, then by track. `timeline`: the trace's BuildMemoryTimeline, for the categories;
// an empty one gives none. `max_blocks`: most blocks of each device. O(n log n) in
// allocations, and O(rows) of the timeline.
[[nodiscard]] std::vector<MemoryMapDevice> MapMemory(const Trace& trace, const MemoryTimeline& timeline,
                                                     size_t max_blocks = 100'000);

}  // namespace opscope
