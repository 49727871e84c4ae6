// docs/reference/tables.md is what trace_tables.def says. OPSCOPE_UPDATE_GOLDEN=1 writes it anew.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "opscope/table.h"
#include "opscope/trace.h"

namespace opscope {
namespace {

constexpr const char* kPath = OPSCOPE_SOURCE_DIR "/docs/reference/tables.md";

const char* TypeName(ColumnType type) {
  constexpr const char* kNames[] = {"uint8", "uint16", "uint32",  "uint64",
                                    "int32", "int64",  "float64", "list of int64"};
  return kNames[static_cast<size_t>(type)];
}

// What a value is: "text", "row of `tracks`", "time (ns)", or the type of a plain number.
std::string KindOf(const TableColumn& column) {
  switch (column.meaning) {
    case ColumnMeaning::kText:
      return "text";
    case ColumnMeaning::kHandle:
      return column.refers_to == "arguments" ? "list of `arguments`" : "row of `" + std::string(column.refers_to) + "`";
    case ColumnMeaning::kTime:
      return "time (ns)";
    case ColumnMeaning::kDuration:
      return "duration (ns)";
    case ColumnMeaning::kValue:
      return TypeName(column.type);
  }
  return "";
}

// The number that columns of numbers hold where the value is unknown.
std::string UnknownOf(const TableColumn& column) {
  if (!column.unknown) return "";
  if (column.meaning == ColumnMeaning::kText || column.meaning == ColumnMeaning::kHandle) return "none";
  const bool is_signed = column.type == ColumnType::kInt32 || column.type == ColumnType::kInt64;
  return is_signed ? std::to_string(static_cast<int64_t>(*column.unknown)) : std::to_string(*column.unknown);
}

// A long text has only its first sentence in the table and the rest below it.
constexpr size_t kMaxCell = 200;

std::string CellOf(std::string_view documentation) {
  const size_t end = documentation.find(". ");
  return std::string(documentation.size() <= kMaxCell ? documentation : documentation.substr(0, end + 1));
}

template <typename Description>
void AppendTable(const Trace& trace, std::string* out) {
  const TableView table = *FindTable(trace, Description::kName);
  *out += "\n## " + std::string(table.name) + "\n\n" + std::string(table.documentation) + "\n\n";
  *out += "| column | type | unknown | number | meaning |\n| --- | --- | --- | --- | --- |\n";
  size_t next = 0;
  std::string below;
  Description::ForEach([&](auto description) {
    const TableColumn& column = table.columns[next++];
    const std::string number = description.kNumber == 0 ? "" : std::to_string(description.kNumber);
    const std::string cell = CellOf(column.documentation);
    *out += "| `" + std::string(column.name) + "` | " + KindOf(column) + " | " + UnknownOf(column) + " | " + number +
            " | " + cell + " |\n";
    if (cell.size() == column.documentation.size()) return;
    below +=
        "\n`" + std::string(column.name) + "`: " + std::string(column.documentation.substr(cell.size() + 1)) + "\n";
  });
  *out += below;
}

std::string Reference() {
  const Trace trace;
  std::string out = R"(# Tables of a trace

This page lists the tables and columns of a trace. They have these names in C++ (`trace.spans().start`), in Python
(`trace.spans["start"]`), in Arrow, pandas, Polars and SQL, and in CSV files ([Export formats](export_formats.md)).

Times are nanoseconds relative to `epoch_ns` of the trace. A value may be unknown where the third column says so:
Arrow, pandas and SQL have NULL there, CSV an empty field, a row in Python None; a plain number column of C++ or
NumPy holds the number that is given. The number is that of the column in `.opscope` files (`src/wire/FORMAT.md`);
columns without one are derived when a file is read, or stored in a way of their own.

In SQL and Parquet each table has a first column `row` (BIGINT), which numbers its rows from 0; a row of a table is such
a number (UINTEGER). Texts are VARCHAR, times and durations BIGINT, uint8 to uint64 are UTINYINT, USMALLINT, UINTEGER
and UBIGINT, int32 and int64 INTEGER and BIGINT, float64 is DOUBLE, a list BIGINT[]. A byte of a text that is not UTF-8
is the six characters `\udcHH`, as in Arrow.

<!-- Generated from include/opscope/trace_tables.def: OPSCOPE_UPDATE_GOLDEN=1 ctest --preset dev -R TablesReference -->
)";
#define OPSCOPE_TABLE(Name, name, number, documentation) AppendTable<Name##Description>(trace, &out);
#include "opscope/trace_tables.def"
  return out;
}

TEST(TablesReference, IsWhatTheDescriptionSays) {
  const std::string expected = Reference();
  if (std::getenv("OPSCOPE_UPDATE_GOLDEN") != nullptr) std::ofstream(kPath) << expected;
  std::ostringstream content;
  content << std::ifstream(kPath).rdbuf();
  EXPECT_EQ(content.str(), expected);
}

}  // namespace
}  // namespace opscope
