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
  size_t limit = 0;  // rows; 0: all
  size_t width = 0;  // of the terminal, in columns; 0: any
};

enum class ResultUnit : uint8_t {
  kText,
  kNumber,  // an integer
  kTime,    // nanoseconds
  kBytes,
  kAmount,  // a large integer, in text tables with k, M, G: FLOPs
  kShare,   // a part of 1, to a millionth; in text tables per cent
  kDouble,  // a floating-point number; in text tables with two decimals, up to 1 with three digits
  kFigure,  // a text that is aligned as a number, for text tables alone; "": unknown
};

// When a text table has a column. JSON, CSV, Arrow and Python have every column that has a key.
enum class ColumnShown : uint8_t {
  kAlways,
  kIfNonZero,  // a value is known and not 0
  kIfKnown,    // an integer is known and not negative, or a double is known
};

struct ResultColumn {
  std::string_view key;    // in JSON, CSV, Arrow and Python; "": in text tables only
  std::string_view title;  // in text tables; "": not there
  ResultUnit unit = ResultUnit::kText;
  std::string_view documentation = {};  // a sentence or two, Markdown
  ColumnShown shown = ColumnShown::kAlways;
};

// The rows of one list of a verb's JSON, such as "kernels" of `opscope devices`.
struct ResultDescription {
  std::string_view verb;
  std::string_view list;  // key of the list in JSON
  std::string_view documentation;
  std::vector<ResultColumn> columns;
  bool is_object = false;  // a single row is an object in JSON instead of a list
};

// The results of all verbs.
[[nodiscard]] std::span<const ResultDescription* const> ResultDescriptions();
// The keys of the results of a verb, for its help; "": it has none.
[[nodiscard]] std::string ResultKeysText(std::string_view verb);

// One cell. Default: unknown, which is null in JSON, empty in CSV and "-" in text tables.
class ResultValue {
 public:
  ResultValue() = default;
  template <std::integral T>
  ResultValue(T number) : value_(static_cast<int64_t>(number)) {}
  ResultValue(double number) : value_(number) {}  // NaN: unknown
  ResultValue(std::string text) : value_(std::move(text)) {}
  ResultValue(std::string_view text) : value_(std::string(text)) {}
  ResultValue(const char* text) : value_(std::string(text)) {}
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

// REQUIRES: the fields are constants of the program.
template <typename Row>
ResultDescription DescribeResult(std::string_view verb, std::string_view list, std::string_view documentation,
                                 std::span<const ResultField<Row>> fields, bool is_object = false) {
  return {verb, list, documentation, {fields.begin(), fields.end()}, is_object};
}

class ResultTable {
 public:
  // `description` outlives the table. Columns are added in their order; not all of the description need be there.
  explicit ResultTable(const ResultDescription& description) : description_(&description) {}

  // One value per row: `value` takes an element of `rows`. REQUIRES: all columns are equally long.
  template <typename Rows, typename Value>
  void Add(const ResultColumn& column, const Rows& rows, Value value) {
    Column& added = Begin(column);
    for (const auto& row : rows)
      Append(value(row), &added);
  }

  // For text tables: the column with this key or title stays where others give way in a narrow terminal.
  void Keep(std::string_view key);

  // A list within each row of JSON, under the key `child.description().list`: row i has the rows of `child` from
  // first[i] until first[i + 1]. REQUIRES: first.size() == size() + 1, after all columns are added.
  void Nest(ResultTable child, const std::vector<uint32_t>& first);

  // Largest number first, or texts in their order; equal rows stay as they are. "total" may stand for "total_ns" or
  // "total_bytes". The column is kept. kInvalidArgument names the keys.
  [[nodiscard]] Status Sort(std::string_view key);
  // The rows in that order.
  [[nodiscard]] Result<std::vector<uint32_t>> OrderBy(std::string_view key) const;

  [[nodiscard]] const ResultDescription& description() const { return *description_; }
  [[nodiscard]] size_t size() const;
  // limit 0: all rows. width 0: of any width. Without rows there is no text.
  [[nodiscard]] std::string Text(size_t limit = 0, size_t width = 0) const;
  [[nodiscard]] std::string Csv(size_t limit = 0) const;
  // The titles and cells that text shows of one row, as lines rather than columns.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> TextLines(size_t row) const;
  void AppendJson(size_t limit, std::string* out) const;       // [{...}, ...]
  void AppendJsonMembers(size_t row, std::string* out) const;  // "key":value,... of one row
  // For Arrow and Python: a copy of the values.
  [[nodiscard]] std::shared_ptr<const OwnedTable> ToTable(std::optional<size_t> limit = std::nullopt) const;

 private:
  // The lists within the rows.
  struct Nested {
    std::shared_ptr<const ResultTable> rows;
    std::vector<std::pair<uint32_t, uint32_t>> ranges;  // by row of this table
  };
  struct Column : ResultColumn {
    std::vector<std::string> texts;  // kText, kFigure
    std::vector<int64_t> numbers;    // INT64_MIN: unknown
    std::vector<double> doubles;     // kShare, kDouble; NaN: unknown
    bool is_kept = false;

    explicit Column(const ResultColumn& column) : ResultColumn(column) {}
    bool HasDoubles() const { return unit == ResultUnit::kShare || unit == ResultUnit::kDouble; }
    bool IsUnknown(size_t row) const;
    bool IsShown() const;
    std::string Cell(size_t row) const;
    double ProgramValue(size_t row) const;  // as programs read it; of columns with doubles
    // As programs read it; `nothing` where it is unknown.
    void AppendValue(size_t row, std::string_view nothing, std::string* out) const;
    bool IsBefore(uint32_t a, uint32_t b) const;
  };

  Result<const Column*> SortColumn(std::string_view key) const;
  Column& Begin(const ResultColumn& column);
  static void Append(ResultValue value, Column* column);
  size_t RowCount(size_t limit) const;
  void AppendJsonRows(size_t first, size_t end, std::string* out) const;

  const ResultDescription* description_;
  std::vector<Column> columns_;
  std::vector<Nested> nested_;
};

// All columns of the description.
template <typename Row>
ResultTable MakeResultTable(const ResultDescription& description, std::span<const ResultField<Row>> fields,
                            const Trace& trace, const std::vector<Row>& rows) {
  ResultTable table(description);
  for (const ResultField<Row>& field : fields)
    table.Add(field, rows, [&](const Row& row) { return field.value(trace, row); });
  return table;
}

// What a verb prints.
struct VerbResult {
  std::vector<ResultTable> tables = {};   // at least one; the first is the one that --sort orders and CSV has
  std::vector<size_t> shown = {0};        // the tables that text has, one below the other
  std::string note = {};                  // text has it below the first table
  std::string facts_json = {};            // members that JSON has before the tables: `"corrected":true`
  std::optional<Quality> quality = {};    // nullopt: JSON does not have it
  std::optional<ResultTable> basis = {};  // what the answer rests on (opscope/report/basis.h), a row per input
  std::string why_empty = {};             // a sentence; "": there are rows
};

[[nodiscard]] std::string ResultText(const VerbResult& result, const RowOptions& options = {});
// {"schema": "opscope.VERB/1", ..., "rows": [...], ..., "problems": [...], "quality": {...}}; the problems are those of
// `trace`.
[[nodiscard]] std::string ResultJson(const VerbResult& result, const Trace& trace, const RowOptions& options = {});

// The same of a result of several traces: the problems of all.
[[nodiscard]] std::string ResultJson(const VerbResult& result, std::span<const ResultInput> inputs,
                                     const RowOptions& options = {});

}  // namespace opscope
