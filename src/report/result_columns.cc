// A ResultTable by column, for pages: JavaScript sorts and filters columns, and an object per row would repeat all
// keys.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_object.h"
#include "base/saturating.h"
#include "opscope/report/result_table.h"

namespace opscope {
namespace {

constexpr std::string_view kUnitNames[] = {"text",   "number", "time",  "bytes",  "amount", "share",
                                           "double", "text",   "truth", "figure", "text"};

std::string_view ResultUnitName(ResultUnit unit) {
  return kUnitNames[static_cast<size_t>(unit)];
}

// JavaScript reads numbers as doubles.
bool IsExactDouble(int64_t number) {
  constexpr int64_t kBeyond = int64_t{1} << 53;
  return -kBeyond <= number && number <= kBeyond;
}

}  // namespace

void ResultTable::AppendJsonColumns(size_t rows, const std::function<uint32_t(std::string_view)>& text_number,
                                    std::string* out) const {
  std::string values;
  out->append("\"columns\":[");
  for (const Column& column : columns_) {
    if (column.key.empty()) continue;
    if (!values.empty()) *out += ',';
    JsonObject description(out);
    description.Text("key", column.key).Text("title", column.title).Text("unit", ResultUnitName(column.unit));
    description.Json("shown", column.IsShown() ? "true" : "false").Text("documentation", column.documentation);
    description.Close();
    values += values.empty() ? "[" : ",\n[";
    for (size_t row = 0; row < std::min(rows, size()); ++row) {
      if (row > 0) values += ',';
      if (column.IsText()) {
        if (column.IsUnknown(row)) {
          values += "-1";
        } else {
          AppendUint(&values, text_number(column.texts[row]));
        }
      } else if (!column.numbers.empty() && !IsExactDouble(column.numbers[row]) && !column.IsUnknown(row)) {
        values += '"';
        AppendInt(&values, column.numbers[row]);
        values += '"';
      } else {
        column.AppendValue(row, "null", &values);
      }
    }
    values += ']';
  }
  out->append("],\n\"values\":[").append(values).append("]");
}

std::optional<int64_t> ResultTable::SumFrom(size_t first, std::string_view key) const {
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.key == key; });
  if (found == columns_.end() || found->IsText() || found->HasDoubles()) return std::nullopt;
  int64_t sum = 0;
  for (size_t row = first; row < size(); ++row)
    sum = found->IsUnknown(row) ? sum : SaturatingAdd(sum, found->numbers[row]);
  return sum;
}

}  // namespace opscope
