// The column blocks of `.opscope` files (dictionary, tables) into a TraceBuilder, in the order of the file. What the
// rows of each table mean stands in column_rows.h, what their numbers refer to in column_ids.h.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

  // False: the payload contradicts itself; nothing of it was added.
  [[nodiscard]] bool AddTable(const TablePayload& payload);
  // A block of the dictionary, whose first text has this number in the file.
  [[nodiscard]] bool AddStrings(uint32_t first_id, const TaggedTexts& texts);
  // How many of so many texts are missing; at least the holes between those that came.
  uint64_t MissingTextsOf(uint64_t all) const { return ids_.strings().MissingOf(all); }
  // Blocks of spans wait until something else comes, or for this; then many are read at once. Adds the offsets of
  // those that contradict themselves to `damaged`.
  void AddWaitingSpans(std::vector<int64_t>* damaged);

  bool spans_wait() const { return !span_blocks_.empty(); }
  uint64_t memory_bytes() const { return span_blocks_.memory_bytes(); }  // of spans that wait, once they are read
  // whole: no block was lost, so the nesting is as stored; else it is found from the times.
  void Finish(bool whole);

 private:
  TraceBuilder* builder_;
  ColumnSpans span_blocks_;
  ColumnIds ids_;
  std::vector<StringId> new_ids_;  // of the newest block of the dictionary
};

}  // namespace opscope
