// The span columns while they grow, and the functions that bring them into the order of the Trace: by track,
// nested spans in pre-order, then the track's async spans by start.
//
// Thread rule: one thread at a time, except SpanTable::Set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/huge_block.h"
#include "base/thread_team.h"
#include "opscope/trace.h"
#include "trace/nesting.h"
#include "trace/tables.h"

namespace opscope {

// The memory of the columns if the number of rows was known.
struct SpanBlock {
  HugeBlock block;
};

template <>
struct GrowingTable<SpanDescription, SpanMembers, SpanRow> : SpanBlock /* outlives the columns */, SpanMembers {
  mutable ConstantBytes constants;  // view() of the sparse columns that are unallocated

  void Add(const SpanRow& row);
  // Adds rows of unspecified content until Set. Different threads may set different rows at once.
  void Append(size_t rows);
  void Set(size_t at, const SpanRow& row);  // row.parent: number of addition; kNone: found by the nesting
  void Reserve(size_t rows);
  void ShrinkToFit();        // copies the columns out of a block that is much too large
  SpanColumns view() const;  // valid until rows are added or Set

  // The dense columns first: then most inputs never touch the end of the block.
  template <typename Visit>
  void ForEach(Visit visit) {
    ForEachOf<false>(visit);
    ForEachOf<true>(visit);
  }
  // Visits the allocated columns, as Column; an unallocated sparse column needs no order.
  template <typename Visit>
  void ForEachFilled(Visit visit);

 private:
  template <bool is_sparse, typename Visit>
  void ForEachOf(Visit visit) {
    SpanDescription::ForEach(
        [&](auto, auto& values) {
          if constexpr (SparseColumn<std::remove_reference_t<decltype(values)>> == is_sparse) visit(values);
        },
        static_cast<SpanMembers&>(*this));
  }
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

// Computes the final order. Tracks that do not nest by time keep their order of addition. O(n) if the rows are
// in order already, as in recordings and Kineto's files, else O(n log n). REQUIRES: every row's track <
// nesting.size().
SpanOrder OrderSpans(const SpanTable& table, std::span<const Nesting> nesting);

// Moves the rows to SpanOrder::source_row, column by column, in the memory of one additional column.
void ApplyOrder(std::span<const uint32_t> source_row, ThreadTeam* team, SpanTable* table);

}  // namespace opscope
