// SPDX-License-Identifier: Apache-2.0
#include "report/row_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/csv.h"
#include "base/json_object.h"
#include "report/code_points.h"
#include "report/human_units.h"

namespace opscope {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kShortestText = 16;

size_t SizeOf(const RowColumn& column) {
  return std::max({column.texts.size(), column.numbers.size(), column.shares.size()});
}

// A name may hold what a terminal obeys.
std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return line;
}

std::string Cell(const RowColumn& column, size_t row) {
  switch (column.unit) {
    case RowUnit::kText:
      return OneLine(column.texts[row]);
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

// As programs read it: exact integers, shares to a millionth, nothing where there is no share.
void AppendValue(const RowColumn& column, size_t row, std::string_view nothing, std::string* out) {
  if (column.unit != RowUnit::kShare) return AppendInt(out, column.numbers[row]);
  if (std::isnan(column.shares[row])) {
    *out += nothing;
  } else {
    AppendDouble(out, std::round(column.shares[row] * 1e6) / 1e6);
  }
}

std::string CutMiddle(const std::string& text, size_t width) {
  const size_t length = CountCodePoints(text);
  if (length <= width) return text;
  const size_t head = (width - 3) / 2;
  const size_t tail = width - 3 - head;
  return std::string(FirstCodePoints(text, static_cast<int64_t>(head))) + "..." +
         text.substr(FirstCodePoints(text, static_cast<int64_t>(length - tail)).size());
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
    const bool is_zero = std::all_of(column.numbers.begin(), column.numbers.end(), [](int64_t n) { return n == 0; });
    if (column.key == key && is_zero) column.title.clear();
  }
}

Status RowTable::Sort(std::string_view key) {
  const std::string text(key);
  std::string keys;
  for (const RowColumn& column : columns_) {
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
  const size_t rows = RowCount(limit);
  const std::vector<const RowColumn*> columns = Shown(true);
  std::vector<std::vector<std::string>> cells(columns.size());  // by column: title, then rows
  std::vector<size_t> widths(columns.size());
  size_t total = 0;
  for (size_t c = 0; c < columns.size(); ++c) {
    cells[c].push_back(columns[c]->title);
    for (size_t row = 0; row < rows; ++row)
      cells[c].push_back(Cell(*columns[c], row));
    for (const std::string& cell : cells[c])
      widths[c] = std::max(widths[c], CountCodePoints(cell));
    total += widths[c] + kGap;
  }
  // Long texts give way, the widest first, so that a line fits the terminal; numbers never do.
  while (width > 0 && total > width + kGap) {
    size_t widest = columns.size();
    for (size_t c = 0; c < columns.size(); ++c) {
      if (columns[c]->unit != RowUnit::kText) continue;
      if (widest == columns.size() || widths[c] > widths[widest]) widest = c;
    }
    if (widest == columns.size() || widths[widest] <= kShortestText) break;
    --widths[widest];
    --total;
  }
  std::string out;
  for (size_t line = 0; line <= rows; ++line) {
    const size_t begin = out.size();
    for (size_t c = 0; c < columns.size(); ++c) {
      const bool is_left = columns[c]->unit == RowUnit::kText;
      if (c > 0) out.append(kGap, ' ');
      AppendPadded(is_left ? CutMiddle(cells[c][line], widths[c]) : cells[c][line], widths[c], is_left, &out);
    }
    out.resize(std::max(begin, out.find_last_not_of(' ') + 1));
    out += '\n';
  }
  return out;
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

std::string RowsJson(std::string_view schema, const Trace& trace, const RowTable& rows, const RowOptions& options) {
  std::string out;
  JsonObject document(&out);
  document.Text("schema", schema);
  document.Key("rows");
  rows.AppendJson(options.limit, &out);
  document.Key("problems");
  out += ProblemsJson(trace);
  document.Close();
  return out + "\n";
}

}  // namespace opscope
