// SPDX-License-Identifier: Apache-2.0
#include "report/row_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/csv.h"
#include "base/json_object.h"
#include "base/text.h"
#include "opscope/report/info.h"
#include "opscope/report/quality.h"
#include "report/human_units.h"
#include "report/text_table.h"

namespace opscope {
namespace {

size_t SizeOf(const RowColumn& column) {
  return std::max({column.texts.size(), column.numbers.size(), column.shares.size()});
}

std::string Cell(const RowColumn& column, size_t row) {
  if (!column.numbers.empty() && column.numbers[row] == kNoNumber) return "-";
  switch (column.unit) {
    case RowUnit::kText:
      return column.texts[row];
    case RowUnit::kNumber:
      return std::to_string(column.numbers[row]);
    case RowUnit::kTime:
      return HumanTime(column.numbers[row]);
    case RowUnit::kBytes:
      return HumanBytes(column.numbers[row]);
    case RowUnit::kAmount:
      return HumanCount(column.numbers[row]);
    case RowUnit::kShare:
      break;
  }
  return std::isnan(column.shares[row]) ? "-" : FixedText(100.0 * column.shares[row], 1) + "%";
}

// As programs read it: exact integers, shares to a millionth, nothing where there is no number or share.
void AppendValue(const RowColumn& column, size_t row, std::string_view nothing, std::string* out) {
  if (column.unit != RowUnit::kShare && column.numbers[row] != kNoNumber) return AppendInt(out, column.numbers[row]);
  if (column.unit != RowUnit::kShare) {
    *out += nothing;
    return;
  }
  if (std::isnan(column.shares[row])) {
    *out += nothing;
  } else {
    AppendDouble(out, std::round(column.shares[row] * 1e6) / 1e6);
  }
}

template <typename T>
void Reorder(const std::vector<uint32_t>& order, std::vector<T>* values) {
  if (values->empty()) return;
  std::vector<T> moved;
  moved.reserve(order.size());
  for (const uint32_t row : order)
    moved.push_back(std::move((*values)[row]));
  *values = std::move(moved);
}

bool IsBefore(const RowColumn& column, uint32_t a, uint32_t b) {
  if (column.unit == RowUnit::kText) return column.texts[a] < column.texts[b];
  if (column.unit == RowUnit::kShare) return column.shares[a] > column.shares[b];
  return column.numbers[a] > column.numbers[b];
}

}  // namespace

RowColumn& RowTable::Add(std::string_view key, std::string_view title, RowUnit unit) {
  return columns_.emplace_back(RowColumn{std::string(key), std::string(title), unit, {}, {}, {}});
}

void RowTable::AddTexts(std::string_view key, std::string_view title, std::vector<std::string> texts) {
  Add(key, title, RowUnit::kText).texts = std::move(texts);
}

void RowTable::AddNumbers(std::string_view key, std::string_view title, RowUnit unit, std::vector<int64_t> numbers) {
  Add(key, title, unit).numbers = std::move(numbers);
}

void RowTable::AddShares(std::string_view key, std::string_view title, const std::vector<int64_t>& parts,
                         int64_t whole) {
  std::vector<double>& shares = Add(key, title, RowUnit::kShare).shares;
  for (const int64_t part : parts) {
    shares.push_back(whole <= 0 ? std::numeric_limits<double>::quiet_NaN()
                                : static_cast<double>(part) / static_cast<double>(whole));
  }
}

void RowTable::HideIfZero(std::string_view key) {
  for (RowColumn& column : columns_) {
    const bool is_zero =
        std::all_of(column.numbers.begin(), column.numbers.end(), [](int64_t n) { return n == 0 || n == kNoNumber; });
    if (column.key == key && is_zero) column.title.clear();
  }
}

void RowTable::Keep(std::string_view key) {
  for (RowColumn& column : columns_)
    column.is_kept |= column.key.empty() ? column.title == key : column.key == key;
}

Status RowTable::Sort(std::string_view key) {
  const std::string text(key);
  std::string keys;
  for (RowColumn& column : columns_) {
    if (column.key.empty()) continue;
    if (column.key == text || column.key == text + "_ns" || column.key == text + "_bytes") {
      std::vector<uint32_t> order(SizeOf(column));
      std::iota(order.begin(), order.end(), 0u);
      std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return IsBefore(column, a, b); });
      for (RowColumn& moved : columns_) {
        Reorder(order, &moved.texts);
        Reorder(order, &moved.numbers);
        Reorder(order, &moved.shares);
      }
      column.is_kept = true;
      return {};
    }
    keys += (keys.empty() ? "" : ", ") + column.key;
  }
  return Error{ErrorCode::kInvalidArgument, "cannot sort by '" + text + "'; choose one of: " + keys};
}

size_t RowTable::RowCount(size_t limit) const {
  const size_t rows = columns_.empty() ? 0 : SizeOf(columns_[0]);
  return limit == 0 ? rows : std::min(limit, rows);
}

std::vector<const RowColumn*> RowTable::Shown(bool for_people) const {
  std::vector<const RowColumn*> shown;
  for (const RowColumn& column : columns_) {
    if (!(for_people ? column.title : column.key).empty()) shown.push_back(&column);
  }
  return shown;
}

std::string RowTable::ForPeople(size_t limit, size_t width) const {
  std::vector<TextColumn> columns;
  for (const RowColumn* shown : Shown(true)) {
    TextColumn& column = columns.emplace_back();
    column.title = shown->title;
    column.is_text = shown->unit == RowUnit::kText;
    column.is_kept = shown->is_kept;
    for (size_t row = 0; row < RowCount(limit); ++row)
      column.cells.push_back(Cell(*shown, row));
  }
  return LayOutTable(std::move(columns), width);
}

std::string RowTable::Csv(size_t limit) const {
  const std::vector<const RowColumn*> columns = Shown(false);
  std::string out;
  for (const RowColumn* column : columns)
    out += (out.empty() ? "" : ",") + column->key;
  out += "\r\n";
  for (size_t row = 0; row < RowCount(limit); ++row) {
    for (const RowColumn* column : columns) {
      if (column != columns[0]) out += ',';
      if (column->unit == RowUnit::kText) {
        AppendCsvField(&out, column->texts[row]);
      } else {
        AppendValue(*column, row, "", &out);
      }
    }
    out += "\r\n";
  }
  return out;
}

void RowTable::AppendJson(size_t limit, std::string* out) const {
  const std::vector<const RowColumn*> columns = Shown(false);
  *out += '[';
  for (size_t row = 0; row < RowCount(limit); ++row) {
    *out += row == 0 ? "\n" : ",\n";
    JsonObject object(out);
    for (const RowColumn* column : columns) {
      if (column->unit == RowUnit::kText) {
        object.Text(column->key, column->texts[row]);
      } else {
        object.Key(column->key);
        AppendValue(*column, row, "null", out);
      }
    }
    object.Close();
  }
  *out += "\n]";
}

std::string RowsJson(std::string_view schema, const Trace& trace, const RowTable* rows, const RowOptions& options,
                     const Quality* quality, std::span<const KeyedRows> more) {
  std::string out;
  JsonObject document(&out);
  document.Text("schema", schema);
  if (rows != nullptr) {
    document.Key("rows");
    rows->AppendJson(options.limit, &out);
  }
  document.Key("problems");
  out += ProblemsJson(trace);
  if (quality != nullptr) {
    document.Key("quality");
    out += QualityJson(*quality);
  }
  for (const auto& [key, keyed] : more) {
    document.Key(key);
    keyed->AppendJson(options.limit, &out);
  }
  document.Close();
  return out + "\n";
}

}  // namespace opscope
