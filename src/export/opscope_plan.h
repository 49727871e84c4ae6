// A column file as a list of blocks that can be made in any order, by several threads: each from its own rows of the
// Trace and from nothing that another one leaves.
//
// Thread rule: planned by one thread; each block is made by one, with a BlockMaker of its own.
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

// Times of a slice of spans on their way into columns.
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

// What one thread makes blocks with; its memory serves one block after the other.
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
  // Appends the payload; fills in what the footer says of it. The Trace must still be there.
  std::function<void(BlockMaker* maker, FooterBlock* footer)> make;
};

// All blocks but footer and end, in the order of the file.
[[nodiscard]] std::vector<PlannedBlock> PlanOpscope(const Trace& trace);

}  // namespace opscope
