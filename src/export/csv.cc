// Writes one table as CSV by RFC 4180: CRLF, a header line, quotes where they are needed. A text column holds its text,
// `args` of spans the JSON of the argument list, other handles their row number. An unknown value is an empty field.
// Texts are quoted once per distinct string, so a row only copies bytes.
// SPDX-License-Identifier: Apache-2.0
#include "base/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "export/argument_text.h"
#include "export/plain_text.h"
#include "export/row_blocks.h"
#include "export/writers.h"
#include "opscope/table.h"

namespace opscope {
namespace {

constexpr size_t kNumberRoom = 40;
constexpr std::string_view kLineEnd = "\r\n";

// Returns `text` as one field. An empty text is "" in quotes; an unknown one is an empty field.
std::string Field(std::string_view text) {
  if (text.empty()) return "\"\"";
  std::string field;
  AppendCsvField(&field, PlainText(text));
  return field;
}

// Returns a list as one field: "[64, 3]".
std::string ListText(Int64List list) {
  std::string text = "[";
  for (const int64_t value : list) {
    if (text.size() > 1) text += ", ";
    AppendInt(&text, value);
  }
  return Field(text + "]");
}

class CsvTable {
 public:
  CsvTable(const Trace& trace, const TableView& table) : table_(table) {
    std::vector<bool> used(trace.string_count(), false);
    for (const TableColumn& column : table.columns) {
      if (column.meaning != ColumnMeaning::kText) continue;
      const auto* ids = static_cast<const StringId*>(column.data);
      for (size_t row = 0; row < table.rows; ++row) {
        if (ids[row] != StringId::kNone) used[Row(ids[row])] = true;
      }
    }
    texts_.resize(trace.string_count());
    for (size_t i = 0; i < texts_.size(); ++i) {
      if (used[i]) texts_[i] = Field(trace.text(static_cast<StringId>(i)));
    }
    if (table.name == "spans") {
      const ArgumentTexts arguments(trace);
      arguments_.resize(trace.argument_list_count());
      for (size_t i = 0; i < arguments_.size(); ++i) {
        const auto id = static_cast<ArgsId>(i);
        arguments_[i] = Field("{" + arguments.values_types_strides(id) + ", " + arguments.dims(id) + "}");
      }
    }
  }

  std::string Header() const {
    std::string header;
    for (const TableColumn& column : table_.columns)
      header.append(header.empty() ? "" : ",").append(column.name);
    return header.append(kLineEnd);
  }

  void WriteRows(size_t begin, size_t end, ChromeBuffer* out) const {
    for (size_t row = begin; row < end; ++row) {
      bool first = true;
      for (const TableColumn& column : table_.columns) {
        if (!first) out->Append(",");
        first = false;
        WriteValue(column, row, out);
      }
      out->Append(kLineEnd);
    }
  }

 private:
  template <typename T>
  static T At(const TableColumn& column, size_t row) {
    return static_cast<const T*>(column.data)[row];
  }

  void WriteValue(const TableColumn& column, size_t row, ChromeBuffer* out) const {
    if (IsUnknown(column, row)) return;
    if (column.meaning == ColumnMeaning::kText) return out->Append(texts_[At<uint32_t>(column, row)]);
    if (!arguments_.empty() && column.name == "args") return out->Append(arguments_[At<uint32_t>(column, row)]);
    out->Reserve(kNumberRoom);
    switch (column.type) {
      case ColumnType::kUint8:
        return out->PutUint(At<uint8_t>(column, row));
      case ColumnType::kUint16:
        return out->PutUint(At<uint16_t>(column, row));
      case ColumnType::kUint32:
        return out->PutUint(At<uint32_t>(column, row));
      case ColumnType::kUint64:
        return out->PutUint(At<uint64_t>(column, row));
      case ColumnType::kInt32:
        return out->PutInt(At<int32_t>(column, row));
      case ColumnType::kInt64:
        return out->PutInt(At<int64_t>(column, row));
      case ColumnType::kFloat64: {
        std::array<char, kNumberRoom> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), At<double>(column, row)).ptr;
        return out->Put({digits.data(), static_cast<size_t>(end - digits.data())});
      }
      case ColumnType::kInt64List:
        return out->Append(ListText(At<Int64List>(column, row)));
    }
  }

  const TableView& table_;
  std::vector<std::string> texts_;      // by StringId, as fields
  std::vector<std::string> arguments_;  // by ArgsId, as fields; filled for the table `spans`
};

}  // namespace

void WriteCsv(const Trace& trace, const ExportOptions& options, ExportOutput* out) {
  const std::optional<TableView> table = FindTable(trace, options.table);
  if (!table) return;
  const CsvTable csv(trace, *table);
  const size_t rows = table->rows;
  out->Write(csv.Header());
  out->WriteBlocks<ChromeBuffer>((rows + kRowsPerBlock - 1) / kRowsPerBlock, [&](size_t block, ChromeBuffer* text) {
    csv.WriteRows(block * kRowsPerBlock, std::min(rows, (block + 1) * kRowsPerBlock), text);
  });
}

}  // namespace opscope
