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

class OwnedTable {
 public:
  struct Description {
    std::string_view name;
    std::string_view documentation = {};  // a sentence or two, Markdown
  };

  OwnedTable(std::string_view name, size_t rows, std::string_view documentation = {});
  OwnedTable(const OwnedTable&) = delete;
  OwnedTable& operator=(const OwnedTable&) = delete;

  // Each adds a column. REQUIRES: as many values as the table has rows.
  // nullopt: no text.
  void AddTexts(const Description& column, const std::vector<std::optional<std::string_view>>& texts);
  // `unknown`: the number that means "unknown".
  void AddNumbers(const Description& column, const std::vector<int64_t>& numbers, int64_t unknown);
  // NaN: unknown.
  void AddDoubles(const Description& column, const std::vector<double>& doubles);
  // `bytes`: the values of a number type, one after the other.
  void AddBytes(const Description& column, ColumnType type, std::string bytes,
                std::optional<uint64_t> unknown = std::nullopt);

  // Valid as long as the table.
  [[nodiscard]] const TableView& view() const { return view_; }

  // The Trace that readers of a table take beside its view: an empty one, which keeps the table.
  [[nodiscard]] static std::shared_ptr<const Trace> TraceOf(std::shared_ptr<const OwnedTable> table);

 private:
  TableColumn& AddColumn(const Description& column, ColumnType type);

  Trace trace_;  // empty: every text is the table's own
  TableView view_;
  // Views point into these; a deque and a map never move what they hold.
  std::deque<std::string> names_;
  std::deque<std::string> values_;
  std::deque<std::vector<uint32_t>> text_ids_;
  std::unordered_map<std::string, uint32_t> ids_;
};

}  // namespace opscope
