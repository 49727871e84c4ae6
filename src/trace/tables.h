// The tables of a Trace while it is built: one struct of columns per table, with the members of the public views
// (include/opscope/trace_tables.h).
//
// Thread rule: one thread at a time while they grow, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/blank_column.h"
#include "base/column.h"
#include "opscope/trace.h"
#include "trace/rows.h"

namespace opscope {

// ProcessMembers, SpanMembers, ...: the columns.
#define OPSCOPE_TABLE(Name, name, number, documentation) struct Name##Members {
#define OPSCOPE_COLUMN(type, name, default_value, stored, documentation) Column<type> name;
#define OPSCOPE_SPARSE_COLUMN(type, name, default_value, stored, documentation) \
  BlankColumn<type, columns::default_value.value> name;
#define OPSCOPE_END_TABLE(Name, column) \
  size_t size() const {                 \
    return column.size();               \
  }                                     \
  }                                     \
  ;
#include "opscope/trace_tables.def"

// A table that grows row by row. Columns of spans hold AddedSpan numbers until Build.
template <typename Description, typename Members, typename Row>
struct GrowingTable : Members {
  void Add(const Row& row) {
    Description::ForEach([](auto column, auto& rows,
                            const auto& added) { rows.push_back(static_cast<typename decltype(column)::Type>(added)); },
                         static_cast<Members&>(*this), row);
  }
  typename Description::Columns view() const {
    typename Description::Columns columns;
    Description::ForEach([](auto, auto& view, const auto& values) { view = values.view(); }, columns,
                         static_cast<const Members&>(*this));
    return columns;
  }
  template <typename Visit>
  void ForEach(Visit visit) {
    Description::ForEach([&](auto, auto& values) { visit(values); }, static_cast<Members&>(*this));
  }
};

template <>
struct GrowingTable<SpanDescription, SpanMembers, SpanRow>;  // span_table.h

// ProcessTable, SpanTable, ...
#define OPSCOPE_TABLE(Name, name, number, documentation) \
  using Name##Table = GrowingTable<Name##Description, Name##Members, Name##Row>;
#include "opscope/trace_tables.def"

// Orders the rows by span, stable. O(rows) when they stand so.
void OrderBySpan(TensorTable* table);

}  // namespace opscope
