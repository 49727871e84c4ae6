// The tables of a Trace by name, for readers that do not know them at compile time:
// Python, Arrow, CSV, SQL. A column points at the values inside the Trace; nothing
// is copied. trace_tables.def lists tables and columns.
//
//   const std::optional<opscope::TableView> spans = opscope::FindTable(trace, "spans");
//   for (const opscope::TableColumn& column : spans->columns)
//     Print(column.name, column.documentation);
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

// Type of one value.
enum class ColumnType : uint8_t { kUint8, kUint16, kUint32, kUint64, kInt32, kInt64, kFloat64, kInt64List };

// What the values of a column stand for.
enum class ColumnMeaning : uint8_t {
  // A number.
  kValue,
  // A StringId; kNone means "no text".
  kText,
  // A row of another table; kNone (all bits set) means "no row".
  kHandle,
  // Nanoseconds since the epoch of the Trace.
  kTime,
  // Nanoseconds.
  kDuration,
};

// TableColumn::unknown of texts and handles.
inline constexpr uint64_t kNoneBits = 0xffffffff;

// One column.
struct TableColumn {
  // "start", "name", ...
  std::string_view name;
  ColumnType type = ColumnType::kUint8;
  ColumnMeaning meaning = ColumnMeaning::kValue;
  // `rows` values without gaps, of the C++ type for `type` (kInt64List: Int64List).
  // May be null if the table has no rows.
  const void* data = nullptr;
  // The value that means "unknown", as the bits of an integer of the column's width. Unset: every
  // value is known. Readers outside of opscope get NULL for it.
  std::optional<uint64_t> unknown = std::nullopt;
  // kHandle: name of the table that the rows belong to.
  std::string_view refers_to = {};
  // One or two sentences, Markdown.
  std::string_view documentation = {};
};

// True if the value in this row is the column's "unknown". REQUIRES: row < rows of
// the table
[[nodiscard]] bool IsUnknown(const TableColumn& column, size_t row);

// One table.
struct TableView {
  std::string_view name;
  size_t rows = 0;
  std::vector<TableColumn> columns = {};
  std::string_view documentation = {};
  // Texts that the Trace does not have, with ids from first_own_text on. Empty for
  // tables of the Trace.
  std::vector<std::string_view> own_texts = {};
  uint32_t first_own_text = 0;
};

// The text of an id in a text column of this table. kNone gives "".
[[nodiscard]] std::string_view TextIn(const Trace& trace, const TableView& table, StringId id);

// "processes", "tracks", "spans", ..., in the order of trace_tables.def.
[[nodiscard]] std::span<const std::string_view> TableNames();

// nullopt if no table has this name. O(columns), but for the first use of
// `arguments`: O(arguments).
[[nodiscard]] std::optional<TableView> FindTable(const Trace& trace, std::string_view name);

// A text column as codes. `texts` has each distinct text once, in order of first
// appearance; `codes` has one row of `texts` for each row of the column, -1 for
// kNone.
struct TextDictionary {
  std::vector<int32_t> codes;
  std::vector<StringId> texts;
};
// O(rows + strings of the Trace). REQUIRES: column.meaning == kText; table and
// column are of this Trace.
[[nodiscard]] TextDictionary EncodeTexts(const Trace& trace, const TableView& table, const TableColumn& column);

}  // namespace opscope
