// The tables of a Trace by name, for readers that do not know them at compile time: Python, Arrow,
// CSV, SQL. A table is its columns, a column is its values where the Trace keeps them: nothing is
// copied. Tables and columns are those of trace_tables.def.
//
// Thread rule: pure functions; views live as long as the Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

enum class ColumnType : uint8_t { kUint8, kUint16, kUint32, kUint64, kInt32, kInt64, kFloat64, kInt64List };

// What the values of a column stand for.
enum class ColumnMeaning : uint8_t {
  kValue,     // themselves
  kText,      // StringId; kNone is "no text"
  kHandle,    // row of another table; kNone (all bits set) is "no row"
  kTime,      // nanoseconds since the epoch of the Trace
  kDuration,  // nanoseconds
};

// TableColumn::unknown of texts and handles.
inline constexpr uint64_t kNoneBits = 0xffffffff;

struct TableColumn {
  std::string_view name;
  ColumnType type = ColumnType::kUint8;
  ColumnMeaning meaning = ColumnMeaning::kValue;
  const void* data =
      nullptr;  // `rows` values without gaps (kInt64List: Int64List); may be null if the table has no rows
  // The value that means "unknown", its bits as an integer of the column's width; unset: every value is known. Readers
  // outside of opscope get NULL for it.
  std::optional<uint64_t> unknown = std::nullopt;
  std::string_view refers_to = {};      // kHandle: the table whose rows these are
  std::string_view documentation = {};  // a sentence or two, Markdown
};

// Whether a value is unknown. REQUIRES: row < rows of the table
[[nodiscard]] bool IsUnknown(const TableColumn& column, size_t row);

struct TableView {
  std::string_view name;
  size_t rows = 0;
  std::vector<TableColumn> columns = {};
  std::string_view documentation = {};
  // Texts that are none of the Trace: ids from first_own_text on. Empty for the tables of the Trace itself.
  std::vector<std::string_view> own_texts = {};
  uint32_t first_own_text = 0;
};

// The text of an id in a text column of this table. kNone gives "".
[[nodiscard]] std::string_view TextIn(const Trace& trace, const TableView& table, StringId id);

// "processes", "tracks", "spans", ..., in the order of trace_tables.def.
[[nodiscard]] std::span<const std::string_view> TableNames();

// nullopt when no table has this name. O(columns).
[[nodiscard]] std::optional<TableView> FindTable(const Trace& trace, std::string_view name);

// A text column as codes: `texts` has each text that occurs once, in order of first appearance;
// `codes` has one row of `texts` for each row of the column, -1 for kNone.
struct TextDictionary {
  std::vector<int32_t> codes;
  std::vector<StringId> texts;
};
// O(rows + strings of the Trace). REQUIRES: column.meaning == kText, the table is of this Trace, the column of it.
[[nodiscard]] TextDictionary EncodeTexts(const Trace& trace, const TableView& table, const TableColumn& column);

}  // namespace opscope
