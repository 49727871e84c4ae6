// A table whose values belong to itself rather than to a Trace: the rows of a result, or values from Python. What reads
// the tables of a Trace (Arrow, NumPy, pandas) reads it through view().
//
//   auto table = std::make_shared<OwnedTable>("kernels", 2, "A kernel by name.");
//   table->AddTexts({.name = "name"}, {"gemm", "relu"});
//   table->AddNumbers({.name = "total_ns"}, {700, 200}, INT64_MIN);
//   OpenArrowStream(OwnedTable::TraceOf(table), table->view(), &stream);
//
// Equal texts of all columns are stored once.
//
// Thread rule: one thread fills it; after that any thread may read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opscope/table.h"
#include "opscope/trace.h"

namespace opscope {

// A table with a fixed number of rows, filled column by column. O(values) per column.
class OwnedTable {
 public:
  // What a column is called and what its values mean; copied.
  struct Description {
    std::string_view name;
    // A sentence or two, Markdown; "": none.
    std::string_view documentation = {};
  };

  // An empty table of `rows` rows. It copies the texts.
  OwnedTable(std::string_view name, size_t rows, std::string_view documentation = {});
  OwnedTable(const OwnedTable&) = delete;
  OwnedTable& operator=(const OwnedTable&) = delete;

  // Each of the following functions adds a column behind the last one and copies its values. REQUIRES: as many values
  // as the table has rows.
  //
  // nullopt: no text, which readers see as NULL. "" is a text.
  void AddTexts(const Description& column, const std::vector<std::optional<std::string_view>>& texts);
  // `unknown`: the number that means "unknown".
  void AddNumbers(const Description& column, const std::vector<int64_t>& numbers, int64_t unknown);
  // NaN: unknown.
  void AddDoubles(const Description& column, const std::vector<double>& doubles);
  void AddLists(const Description& column, std::vector<std::vector<int64_t>> lists);
  // `bytes`: the values of a number type, one after the other without gaps. `unknown`: the bits of the value that means
  // "unknown"; nullopt: every value is known.
  void AddBytes(const Description& column, ColumnType type, std::string bytes,
                std::optional<uint64_t> unknown = std::nullopt);

  // The table as its readers see it. Valid as long as the OwnedTable, but AddX changes it.
  [[nodiscard]] const TableView& view() const { return view_; }

  // The Trace that readers of a table take beside its view: an empty one, which keeps the table.
  [[nodiscard]] static std::shared_ptr<const Trace> TraceOf(std::shared_ptr<const OwnedTable> table);

 private:
  TableColumn& AddColumn(const Description& column, ColumnType type);

  // Empty: every text is the table's own.
  Trace trace_;
  TableView view_;
  // Views point into these; a deque and a map never move what they hold.
  std::deque<std::string> names_;
  std::deque<std::string> values_;
  std::deque<std::vector<uint32_t>> text_ids_;
  std::deque<std::vector<std::vector<int64_t>>> lists_;
  // Each distinct text of the table, and its id in text columns.
  std::unordered_map<std::string, uint32_t> ids_;
};

}  // namespace opscope
