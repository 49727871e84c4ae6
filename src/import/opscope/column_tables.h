// Adds the column blocks of `.opscope` files (dictionary, tables) to a TraceBuilder, in the order of the file.
// column_rows.h interprets the rows of each table, column_ids.h the references between them.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/text_interner.h"
#include "import/opscope/column_ids.h"
#include "import/opscope/column_spans.h"
#include "trace/builder.h"
#include "wire/table_block.h"

namespace opscope {

class ColumnTables {
 public:
  ColumnTables(TraceBuilder* builder, ThreadTeam* team)
      : builder_(builder), span_blocks_(builder, team), ids_(builder) {}

  // False: the payload is inconsistent; nothing of it was added.
  [[nodiscard]] bool AddTable(const TablePayload& payload);
  // A dictionary block; first: the number of its first text in the file.
  [[nodiscard]] bool AddStrings(uint32_t first_id, const TaggedTexts& texts);
  // The number of missing texts if the file has so many; at least the gaps between the blocks that were read.
  uint64_t MissingTextsOf(uint64_t all) const { return ids_.strings().MissingOf(all); }
  // Blocks of spans wait until another kind of block comes, or this is called; then many are decoded in parallel.
  // Appends the offsets of inconsistent blocks to `damaged`.
  void AddWaitingSpans(std::vector<int64_t>* damaged);

  bool spans_wait() const { return !span_blocks_.empty(); }
  uint64_t memory_bytes() const { return span_blocks_.memory_bytes(); }  // of the waiting spans, once they are added
  // whole: no block was lost, so the nesting is as stored; else it is computed from the times.
  void Finish(bool whole);

 private:
  TraceBuilder* builder_;
  ColumnSpans span_blocks_;
  ColumnIds ids_;
  std::vector<StringId> new_ids_;  // of the newest dictionary block
};

}  // namespace opscope
