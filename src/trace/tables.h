// The tables of a Trace while it is built: one struct of columns per table, with the members of the public views
// (include/opscope/trace_tables.h).
//
// Thread rule: one thread at a time while they grow, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "base/column.h"
#include "base/lazy_column.h"
#include "opscope/trace.h"
#include "trace/rows.h"

namespace opscope {

// ProcessMembers, SpanMembers, ...: the columns.
#define OPSCOPE_TABLE(Name, name, number, documentation) struct Name##Members {
#define OPSCOPE_COLUMN(type, name, default_value, stored, documentation) Column<type> name;
#define OPSCOPE_SPARSE_COLUMN(type, name, default_value, stored, documentation) \
  LazyColumn<type, columns::default_value.value> name;
#define OPSCOPE_END_TABLE(Name, column) \
  size_t size() const {                 \
    return column.size();               \
  }                                     \
  }                                     \
  ;
#include "opscope/trace_tables.def"

template <typename T>
concept SparseColumn = requires(const T& column) { column.is_unallocated(); };

// The rows of a column as a public view.
template <typename T>
auto ViewOf(const T& values, ConstantBytes* constants) {
  if constexpr (SparseColumn<T>) {
    return values.view(constants);
  } else {
    return values.view();
  }
}

// A table that grows row by row. Columns of spans hold AddedSpan numbers until Build.
template <typename Description, typename Members, typename Row>
struct GrowingTable : Members {
  mutable ConstantBytes constants;  // view() of the sparse columns that are unallocated

  void Add(const Row& row) {
    Description::ForEach(
        [at = this->size()](auto column, auto& rows, const auto& added) {
          const auto cell = static_cast<typename decltype(column)::Type>(added);
          if constexpr (SparseColumn<std::remove_reference_t<decltype(rows)>>) {
            rows.resize_unset(at + 1);
            rows.Set(at, cell);
          } else {
            rows.push_back(cell);
          }
        },
        static_cast<Members&>(*this), row);
  }
  typename Description::Columns view() const {
    typename Description::Columns columns;
    Description::ForEach([this](auto, auto& view, const auto& values) { view = ViewOf(values, &constants); }, columns,
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

}  // namespace opscope
