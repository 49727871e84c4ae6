// An `.opscope` file as a list of blocks that several threads can encode in any order. A block depends only on its own
// rows of the Trace, never on another block.
//
// Thread rule: one thread plans; each block is encoded by one thread with its own BlockMaker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opscope/trace.h"
#include "wire/container.h"
#include "wire/footer.h"
#include "wire/span_times.h"
#include "wire/table_block.h"

namespace opscope {

// Buffers for the time columns of a slice of spans.
struct SliceTimes {
  std::vector<uint64_t> depth, start, duration, async_start, async_duration;
  EdgeGaps gaps;

  void Clear() {
    depth.clear(), async_start.clear(), async_duration.clear();
    for (auto& of_previous : gaps.gaps) {
      for (std::vector<uint64_t>& column : of_previous)
        column.clear();
    }
  }
};

// The encoder state of one thread. Its buffers are reused from block to block.
struct BlockMaker {
  TableBlockWriter table;
  ColumnEncoder encoder;
  SliceTimes times;
  std::string payload;

  void FinishTable() { table.AppendTo(&payload); }
};

struct PlannedBlock {
  uint16_t type = block_types::kTable;
  bool compress = false;
  size_t rows = 0;
  uint32_t table = 0;  // of kTable blocks
  // Encodes the block into maker->payload and fills in its footer entry. REQUIRES: the Trace is alive.
  std::function<void(BlockMaker* maker, FooterBlock* footer)> make;
};

// All blocks except footer and end mark, in the order of the file. O(rows).
[[nodiscard]] std::vector<PlannedBlock> PlanOpscope(const Trace& trace);

}  // namespace opscope
