// The rows of a result. Each column is described once (ResultColumn); text tables, JSON, CSV, Arrow, Python, the help
// of the command line and docs/reference/results.md follow from the description.
//
// A verb such as `opscope devices` is three things: a struct for a row, a function that computes the rows, and a list
// of fields, one per column:
//
//   constexpr ResultField<DeviceRow> kFields[] = {
//       {{"busy_ns", "Busy", ResultUnit::kTime, "Time in which a kernel ran."}, [](const DeviceRow& r) { return
//       r.busy_ns; }},
//   };
//   ResultTable table = MakeResultTable<DeviceRow>(DeviceResult(), kFields, trace, rows);
//   if (Status sorted = table.Sort("busy"); !sorted.ok()) ...
//   std::string csv = table.Csv(10);
//
// In text tables control characters, marks of direction and bytes that are not text are escaped. In a terminal columns
// are left out from the right, which a line says, and then long texts are cut, so that no line is wider.
//
// Thread rule: one thread at a time; descriptions are constant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "opscope/analysis/quality.h"
#include "opscope/owned_table.h"
#include "opscope/report/result_inputs.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// How much of a result is shown.
struct RowOptions {
  // Number of rows; 0: all.
  size_t limit = 0;
  // Columns of the terminal; 0: any width.
  size_t width = 0;
};

// What the values of a column are. The unit decides how each output writes a value.
enum class ResultUnit : uint8_t {
  // A text; an unknown one is empty.
  kText,
  // An integer, written in full.
  kNumber,
  // Nanoseconds; text tables choose the unit: "1.235 ms".
  kTime,
  // Bytes; text tables choose the unit.
  kBytes,
  // A large integer such as FLOPs; text tables write it with k, M, G.
  kAmount,
  // A part of 1, rounded to a millionth; text tables write per cent.
  kShare,
  // A floating-point number. Text tables write a whole one in full, others with two decimals, below 1 with three
  // digits.
  kDouble,
  // A text that may be unknown, and then is null in JSON.
  kOptionalText,
  // true or false; text tables write yes or no.
  kTruth,
  // A text that is aligned as a number, only for text tables; "": unknown.
  kFigure,
  // A text such as "0,1,2", which is a list of integers in JSON.
  kNumberList,
};

// When a text table has a column. JSON, CSV, Arrow and Python have every column that has a key.
enum class ColumnShown : uint8_t {
  kAlways,
  // Some row has a known value other than 0.
  kIfNonZero,
  // Some row has a known integer that is not negative, or a known double.
  kIfKnown,
};

// Description of one column: its names, its unit and its meaning.
struct ResultColumn {
  // Name in JSON, CSV, Arrow and Python; "": the column is in text tables only.
  std::string_view key;
  // Head of the column in text tables; "": text tables leave the column out.
  std::string_view title;
  ResultUnit unit = ResultUnit::kText;
  // A sentence or two, Markdown.
  std::string_view documentation = {};
  ColumnShown shown = ColumnShown::kAlways;
};

// The rows of one list of a verb's JSON, such as "kernels" of `opscope devices`.
struct ResultDescription {
  // "devices".
  std::string_view verb;
  // Key of the list in JSON: "kernels".
  std::string_view list;
  // A sentence that says what one row is, Markdown.
  std::string_view documentation;
  std::vector<ResultColumn> columns;
  // A single row is an object in JSON instead of a list.
  bool is_object = false;
};

// The results of all verbs.
[[nodiscard]] std::span<const ResultDescription* const> ResultDescriptions();
// The keys of the results of a verb, for its help; "": it has none.
[[nodiscard]] std::string ResultKeysText(std::string_view verb);

// One cell. Default: unknown, which is null in JSON, empty in CSV and "-" in text tables. A text is never unknown:
// without a value it is "". The constructors are implicit so that a field's lambda returns a plain value.
class ResultValue {
 public:
  ResultValue() = default;
  template <std::integral T>
  ResultValue(T number) : value_(static_cast<int64_t>(number)) {}
  // NaN: unknown.
  ResultValue(double number) : value_(number) {}
  ResultValue(std::string text) : value_(std::move(text)) {}
  ResultValue(std::string_view text) : value_(std::string(text)) {}
  ResultValue(const char* text) : value_(std::string(text)) {}
  // nullopt: unknown.
  template <typename T>
  ResultValue(const std::optional<T>& value) {
    if (value) *this = ResultValue(*value);
  }

 private:
  friend class ResultTable;
  std::variant<std::monostate, int64_t, double, std::string> value_;
};

// A column, and how to get its value from a row: a captureless lambda that takes (row) or (trace, row).
template <typename Row>
struct ResultField : ResultColumn {
  template <typename Get>
  constexpr ResultField(const ResultColumn& column, Get)
      : ResultColumn(column), value([](const Trace& trace, const Row& row) -> ResultValue {
          if constexpr (std::is_invocable_v<Get, const Row&>) {
            return Get{}(row);
          } else {
            return Get{}(trace, row);
          }
        }) {}

  ResultValue (*value)(const Trace& trace, const Row& row);
};

// Makes the description of a list from its fields. REQUIRES: the fields and texts are constants of the program,
// because the description points at them.
template <typename Row>
ResultDescription DescribeResult(std::string_view verb, std::string_view list, std::string_view documentation,
                                 std::span<const ResultField<Row>> fields, bool is_object = false) {
  return {verb, list, documentation, {fields.begin(), fields.end()}, is_object};
}

// The rows of one result, by column. O(rows) per column for every output; Sort is O(rows log rows).
class ResultTable {
 public:
  // The caller then adds the columns in the order of the description, and may leave some out. REQUIRES: `description`
  // outlives the table.
  explicit ResultTable(const ResultDescription& description) : description_(&description) {}

  // One value per row: `value` takes an element of `rows`. REQUIRES: all columns are equally long.
  template <typename Rows, typename Value>
  void Add(const ResultColumn& column, const Rows& rows, Value value) {
    Column& added = Begin(column);
    for (const auto& row : rows)
      AppendValue(value(row), &added);
  }

  // For text tables: the column with this key or title is left out last in a narrow terminal.
  void Keep(std::string_view key);

  // Puts a list into each row of JSON, under the key `child.description().list`: row i has the rows of `child` from
  // first[i] until first[i + 1]. REQUIRES: first.size() == size() + 1, after all columns are added.
  void Nest(ResultTable child, const std::vector<uint32_t>& first);

  // Appends the rows of a table with the same columns. REQUIRES: neither has nested lists.
  void Append(ResultTable more);
  // Keeps the first `rows` rows. REQUIRES: no nested lists.
  void Truncate(size_t rows);

  // Orders the rows: largest number first, texts by their bytes; equal rows keep their order. "total" may stand for
  // "total_ns" or "total_bytes". Also calls Keep for the column. kInvalidArgument: no column has this key; the message
  // names the keys.
  [[nodiscard]] Status Sort(std::string_view key);
  // The order that Sort would give, as row numbers; changes nothing.
  [[nodiscard]] Result<std::vector<uint32_t>> OrderBy(std::string_view key) const;

  [[nodiscard]] const ResultDescription& description() const { return *description_; }
  [[nodiscard]] size_t size() const;
  // A table for people, with aligned columns and a line of titles. limit 0: all rows. width: columns of the terminal,
  // 0: any. "" without rows.
  [[nodiscard]] std::string Text(size_t limit = 0, size_t width = 0) const;
  // RFC 4180: a line of keys, then a line per row, each ended by CR and LF. limit 0: all rows.
  [[nodiscard]] std::string Csv(size_t limit = 0) const;
  // The titles and cells that text shows of one row, as lines rather than columns.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> TextLines(size_t row) const;
  // Appends [{...}, ...], one object per row. limit 0: all rows.
  void AppendJson(size_t limit, std::string* out) const;
  // Appends "key":value,... of one row, without braces. REQUIRES: row < size()
  void AppendJsonMembers(size_t row, std::string* out) const;
  // Appends "columns":[{"key","title","unit","shown","documentation"}, ...],"values":[[...], ...] of the first `rows`
  // rows, with one list of values per column that has a key. A text is the number that text_number gives it, -1 if
  // unknown; integers beyond 2^53 are texts of digits. `shown`: text tables have the column too.
  void AppendJsonColumns(size_t rows, const std::function<uint32_t(std::string_view)>& text_number,
                         std::string* out) const;
  // Sum of a column's integers from row `first` on, unknown ones left out; it saturates. nullopt: no such column.
  [[nodiscard]] std::optional<int64_t> SumFrom(size_t first, std::string_view key) const;
  // A copy of the values, for Arrow and Python. nullopt: all rows.
  [[nodiscard]] std::shared_ptr<const OwnedTable> ToTable(std::optional<size_t> limit = std::nullopt) const;

 private:
  // The lists within the rows.
  struct Nested {
    std::shared_ptr<const ResultTable> rows;
    // By row of this table.
    std::vector<std::pair<uint32_t, uint32_t>> ranges;
  };
  // One of the three lists has a value per row, as the unit says; the others are empty.
  struct Column : ResultColumn {
    // kText, kOptionalText, kFigure; of the last two "" is unknown.
    std::vector<std::string> texts;
    // All other units; INT64_MIN: unknown.
    std::vector<int64_t> numbers;
    // kShare, kDouble; NaN: unknown.
    std::vector<double> doubles;
    bool is_kept = false;

    explicit Column(const ResultColumn& column) : ResultColumn(column) {}
    bool IsText() const {
      return unit == ResultUnit::kText || unit == ResultUnit::kOptionalText || unit == ResultUnit::kNumberList;
    }
    bool HasDoubles() const { return unit == ResultUnit::kShare || unit == ResultUnit::kDouble; }
    bool IsUnknown(size_t row) const;
    bool IsShown() const;
    std::string Cell(size_t row) const;
    // As programs read it; `nothing` where it is unknown.
    void AppendValue(size_t row, std::string_view nothing, std::string* out) const;
    bool IsBefore(uint32_t a, uint32_t b) const;
  };

  Result<const Column*> SortColumn(std::string_view key) const;
  Column& Begin(const ResultColumn& column);
  static void AppendValue(ResultValue value, Column* column);
  size_t RowCount(size_t limit) const;
  void AppendJsonRows(size_t first, size_t end, std::string* out) const;

  const ResultDescription* description_;
  std::vector<Column> columns_;
  std::vector<Nested> nested_;
};

// A table with all fields, one row per element of `rows`. `trace`: the one that the rows came from.
template <typename Row>
ResultTable MakeResultTable(const ResultDescription& description, std::span<const ResultField<Row>> fields,
                            const Trace& trace, std::span<const Row> rows) {
  ResultTable table(description);
  for (const ResultField<Row>& field : fields)
    table.Add(field, rows, [&](const Row& row) { return field.value(trace, row); });
  return table;
}

// How many rows a list lacks because it would be too long: `"omitted_steps":7` in JSON.
struct OmittedRows {
  // Key of the list in JSON.
  std::string_view list;
  uint64_t rows = 0;
};

// Everything that a verb of the command line prints, in any of its formats.
struct VerbResult {
  // At least one. --sort orders the first, and CSV has only the first.
  std::vector<ResultTable> tables = {};
  // Indices of the tables that text has, one below the other.
  std::vector<size_t> shown = {0};
  // Lines that text has below the first table; "": none.
  std::string note = {};
  // Members that JSON has before the tables: `"corrected":true`; "": none.
  std::string facts_json = {};
  OmittedRows omitted = {};
  // nullopt: JSON has no "quality".
  std::optional<Quality> quality = {};
  // What the answer rests on (opscope/report/basis.h), a row per input; nullopt: not requested.
  std::optional<ResultTable> basis = {};
  // A sentence; "": there are rows.
  std::string why_empty = {};
  // The list that JSON has under "problems"; nullopt: the problems of the inputs.
  std::optional<std::string> problems_json = {};
};

// Appends the rows of another result of the same verb to those of `result`.
void AppendRows(VerbResult more, VerbResult* result);

// The shown tables one below the other, with the note; "" if they have no rows.
[[nodiscard]] std::string ResultText(const VerbResult& result, const RowOptions& options = {});
// {"schema": "opscope.VERB/1", ..., "rows": [...], ..., "problems": [...], "quality": {...}}; the problems are those of
// `trace`.
[[nodiscard]] std::string ResultJson(const VerbResult& result, const Trace& trace, const RowOptions& options = {});

// The same of a result of several traces: the problems of all.
[[nodiscard]] std::string ResultJson(const VerbResult& result, std::span<const ResultInput> inputs,
                                     const RowOptions& options = {});

}  // namespace opscope
