// The span columns while they grow, and their way into the order of the Trace: by track, nested spans
// in pre-order, then the track's async spans by start.
//
// Thread rule: one thread at a time, but SpanTable::Set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/blank_column.h"
#include "base/column.h"
#include "base/huge_block.h"
#include "base/thread_team.h"
#include "opscope/trace.h"
#include "trace/builder.h"
#include "trace/nesting.h"

namespace opscope {

struct SpanTable {
  HugeBlock block;  // of the columns, when the number of rows was known; declared before them: it outlives them
  Column<Timestamp> start;
  Column<Duration> duration;
  Column<StringId> name, category;
  Column<TrackId> track;
  Column<SpanId> parent;
  Column<uint16_t> depth;
  // What only some inputs know.
  BlankColumn<uint8_t, 0> flags;
  BlankColumn<ScopeType, ScopeType::kUnknown> scope;
  BlankColumn<SpanKind, kKindOfCategory> kind;
  BlankColumn<uint32_t, 0> external_id;
  BlankColumn<ArgsId, ArgsId::kNone> args;
  BlankColumn<int64_t, -1> sequence;
  BlankColumn<uint64_t, 0> forward_thread;
  BlankColumn<StringId, StringId::kNone> overload;
  BlankColumn<StackId, StackId::kNone> stack;
  BlankColumn<uint32_t, 0> correlation;
  BlankColumn<StringId, StringId::kNone> extra;
  mutable BlankBytes blanks;  // what view() shows of the columns that nothing was written to

  size_t size() const { return start.size(); }
  void Add(const SpanRow& row);  // leaves `parent` for the nesting
  // More rows, which hold anything until Set. Different threads may set different rows at once.
  void Append(size_t rows);
  void Set(size_t at, const SpanRow& row, SpanId parent_row);
  void Reserve(size_t rows);
  void ShrinkToFit();        // out of a block that is much too large
  SpanColumns view() const;  // valid until rows are added or Set

  // Those that are mostly written come first: behind them the block stays untouched.
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(start), visit(duration), visit(name), visit(category), visit(track), visit(parent), visit(depth);
    visit(flags), visit(kind), visit(scope), visit(external_id), visit(args), visit(sequence), visit(forward_thread);
    visit(overload), visit(stack), visit(correlation), visit(extra);
  }
  // Visits the columns that hold something, as Column; those of one value are in their order already.
  template <typename Visit>
  void ForEachFilled(Visit visit);
};

// Row range of one track: nested rows [first, first + nested), async rows behind them up to first + count.
struct TrackRange {
  uint32_t first = 0;
  uint32_t nested = 0;
  uint32_t count = 0;
};

struct SpanOrder {
  Column<TrackRange> tracks;
  // For each final row the row of addition; empty when nothing has to move.
  Column<uint32_t> source_row;
};

// Where every row belongs. Tracks that are not nested by time keep their order of addition. O(n) when the rows
// stand in order already, as recordings and Kineto's files do, O(n log n) otherwise.
// REQUIRES: every row's track < nesting.size().
SpanOrder OrderSpans(const SpanTable& table, std::span<const Nesting> nesting);

// Moves the rows, column by column, so that one extra column is all the memory it takes.
void ApplyOrder(std::span<const uint32_t> source_row, ThreadTeam* team, SpanTable* table);

}  // namespace opscope
