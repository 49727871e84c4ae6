// A ResultTable holds the values of a result by column: texts, integers or doubles, as the column's unit says. Every
// form of the result is a loop over columns and rows that asks the column how one value is written:
//
//   {"busy_ns", "Busy", kTime}, value 1234567   ->   text "1.235 ms", JSON "busy_ns":1234567, CSV 1234567
//
// Columns rather than rows, because sorting, hiding empty columns and Arrow need one column at a time.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/result_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "base/csv.h"
#include "base/json_object.h"
#include "base/saturating.h"
#include "base/text.h"
#include "opscope/report/quality.h"
#include "report/human_units.h"
#include "report/text_table.h"

namespace opscope {
namespace {

constexpr int64_t kUnknownNumber = INT64_MIN;

bool IsWholeNumber(double value) {
  return value == std::floor(value) && std::abs(value) < 9e15;
}

// 1060000 rather than 1.06e+06.
void AppendShortDouble(std::string* out, double value) {
  if (IsWholeNumber(value)) {
    AppendInt(out, static_cast<int64_t>(value));
  } else {
    AppendDouble(out, value);
  }
}

// 12, 12.35, 0.00805, 1.23e-09.
std::string DoubleText(double value) {
  if (IsWholeNumber(value)) return std::to_string(static_cast<int64_t>(value));
  if (std::abs(value) > 1 && std::abs(value) < 1e9) return FixedText(value, 2);
  char text[40];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value, std::chars_format::general, 3);
  return {text, end.ptr};
}

// Of a kNumberList: "0,1,2".
std::vector<int64_t> NumbersOf(const std::string& list) {
  std::vector<int64_t> numbers;
  const char* const end = list.data() + list.size();
  for (const char* at = list.data(); at < end; ++at) {
    const std::from_chars_result read = std::from_chars(at, end, numbers.emplace_back(0));
    at = read.ptr;
  }
  return numbers;
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

}  // namespace

bool ResultTable::Column::IsUnknown(size_t row) const {
  if (unit == ResultUnit::kText || unit == ResultUnit::kNumberList) return false;
  if (unit == ResultUnit::kFigure || unit == ResultUnit::kOptionalText) return texts[row].empty();
  return HasDoubles() ? std::isnan(doubles[row]) : numbers[row] == kUnknownNumber;
}

bool ResultTable::Column::IsShown() const {
  if (title.empty()) return false;
  if (shown == ColumnShown::kAlways) return true;
  const bool is_zero_shown = shown == ColumnShown::kIfKnown;
  return std::any_of(
             numbers.begin(), numbers.end(),
             [=](int64_t number) { return is_zero_shown ? number >= 0 : number != 0 && number != kUnknownNumber; }) ||
         std::any_of(doubles.begin(), doubles.end(),
                     [=](double value) { return !std::isnan(value) && (is_zero_shown || value != 0); });
}

std::string ResultTable::Column::Cell(size_t row) const {
  if (IsUnknown(row)) return "-";
  switch (unit) {
    case ResultUnit::kText:
    case ResultUnit::kOptionalText:
    case ResultUnit::kFigure:
    case ResultUnit::kNumberList:
      return texts[row];
    case ResultUnit::kTruth:
      return numbers[row] != 0 ? "yes" : "no";
    case ResultUnit::kNumber:
      return std::to_string(numbers[row]);
    case ResultUnit::kTime:
      return HumanTime(numbers[row]);
    case ResultUnit::kBytes:
      return HumanBytes(numbers[row]);
    case ResultUnit::kAmount:
      return HumanCount(numbers[row]);
    case ResultUnit::kDouble:
      return DoubleText(doubles[row]);
    case ResultUnit::kShare:
      break;
  }
  return FixedText(100.0 * doubles[row], 1) + "%";
}

void ResultTable::Column::AppendValue(size_t row, std::string_view nothing, std::string* out) const {
  if (IsUnknown(row)) {
    *out += nothing;
  } else if (unit == ResultUnit::kShare) {
    AppendDouble(out, doubles[row]);
  } else if (unit == ResultUnit::kDouble) {
    AppendShortDouble(out, doubles[row]);
  } else if (unit == ResultUnit::kTruth) {
    *out += numbers[row] != 0 ? "true" : "false";
  } else {
    AppendInt(out, numbers[row]);
  }
}

bool ResultTable::Column::IsBefore(uint32_t a, uint32_t b) const {
  if (IsText()) return texts[a] < texts[b];
  if (!HasDoubles()) return numbers[a] > numbers[b];
  return IsUnknown(b) ? !IsUnknown(a) : doubles[a] > doubles[b];
}

ResultTable::Column& ResultTable::Begin(const ResultColumn& column) {
  return columns_.emplace_back(column);
}

void ResultTable::AppendValue(ResultValue value, Column* column) {
  auto& held = value.value_;
  const auto* number = std::get_if<int64_t>(&held);
  const auto* real = std::get_if<double>(&held);
  if (column->IsText() || column->unit == ResultUnit::kFigure) {
    auto* text = std::get_if<std::string>(&held);
    column->texts.push_back(text != nullptr ? std::move(*text) : std::string());
  } else if (column->HasDoubles()) {
    column->doubles.push_back(real != nullptr     ? *real
                              : number != nullptr ? static_cast<double>(*number)
                                                  : std::numeric_limits<double>::quiet_NaN());
  } else {
    column->numbers.push_back(number != nullptr ? *number : real != nullptr ? ClampToInt64(*real) : kUnknownNumber);
  }
}

void ResultTable::Keep(std::string_view key) {
  for (Column& column : columns_)
    column.is_kept |= column.key.empty() ? column.title == key : column.key == key;
}

void ResultTable::Nest(ResultTable child, const std::vector<uint32_t>& first) {
  Nested& nested = nested_.emplace_back(Nested{std::make_shared<const ResultTable>(std::move(child)), {}});
  for (size_t row = 0; row + 1 < first.size(); ++row)
    nested.ranges.emplace_back(first[row], first[row + 1]);
}

void ResultTable::Append(ResultTable more) {
  const auto move_to = [](auto* to, auto* from) {
    to->insert(to->end(), std::make_move_iterator(from->begin()), std::make_move_iterator(from->end()));
  };
  OPSCOPE_CHECK(columns_.size() == more.columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    move_to(&columns_[i].texts, &more.columns_[i].texts);
    move_to(&columns_[i].numbers, &more.columns_[i].numbers);
    move_to(&columns_[i].doubles, &more.columns_[i].doubles);
  }
}

void ResultTable::Truncate(size_t rows) {
  for (Column& column : columns_) {
    column.texts.resize(std::min(rows, column.texts.size()));
    column.numbers.resize(std::min(rows, column.numbers.size()));
    column.doubles.resize(std::min(rows, column.doubles.size()));
  }
}

Result<const ResultTable::Column*> ResultTable::SortColumn(std::string_view key) const {
  const std::string text(key);
  std::string keys;
  for (const Column& column : columns_) {
    if (column.key.empty()) continue;
    if (column.key == text || column.key == text + "_ns" || column.key == text + "_bytes") return &column;
    keys.append(keys.empty() ? "" : ", ").append(column.key);
  }
  return Error{ErrorCode::kInvalidArgument, "cannot sort by '" + text + "'; choose one of: " + keys};
}

Result<std::vector<uint32_t>> ResultTable::OrderBy(std::string_view key) const {
  const Result<const Column*> column = SortColumn(key);
  if (!column.ok()) return column.error();
  std::vector<uint32_t> order(size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return column.value()->IsBefore(a, b); });
  return order;
}

Status ResultTable::Sort(std::string_view key) {
  const Result<std::vector<uint32_t>> order = OrderBy(key);
  if (!order.ok()) return order.error();
  for (Column& column : columns_) {
    Reorder(order.value(), &column.texts);
    Reorder(order.value(), &column.numbers);
    Reorder(order.value(), &column.doubles);
  }
  for (Nested& nested : nested_)
    Reorder(order.value(), &nested.ranges);
  Keep(SortColumn(key).value()->key);
  return {};
}

size_t ResultTable::size() const {
  if (columns_.empty()) return 0;
  return std::max({columns_[0].texts.size(), columns_[0].numbers.size(), columns_[0].doubles.size()});
}

size_t ResultTable::RowCount(size_t limit) const {
  return limit == 0 ? size() : std::min(limit, size());
}

std::string ResultTable::Text(size_t limit, size_t width) const {
  if (size() == 0) return "";
  std::vector<TextColumn> columns;
  for (const Column& shown : columns_) {
    if (!shown.IsShown()) continue;
    TextColumn& column = columns.emplace_back();
    column.title = shown.title;
    column.is_text = shown.IsText();
    column.is_kept = shown.is_kept;
    for (size_t row = 0; row < RowCount(limit); ++row)
      column.cells.push_back(shown.Cell(row));
  }
  return LayOutTable(std::move(columns), width);
}

std::vector<std::pair<std::string, std::string>> ResultTable::TextLines(size_t row) const {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Column& column : columns_) {
    if (column.IsShown()) lines.emplace_back(column.title, column.Cell(row));
  }
  return lines;
}

std::string ResultTable::Csv(size_t limit) const {
  std::string out;
  for (const Column& column : columns_) {
    if (!column.key.empty()) out.append(out.empty() ? "" : ",").append(column.key);
  }
  out += "\r\n";
  for (size_t row = 0; row < RowCount(limit); ++row) {
    const char* separator = "";
    for (const Column& column : columns_) {
      if (column.key.empty()) continue;
      out += std::exchange(separator, ",");
      if (column.IsText()) {
        AppendCsvField(&out, column.texts[row]);
      } else {
        column.AppendValue(row, "", &out);
      }
    }
    out += "\r\n";
  }
  return out;
}

void ResultTable::AppendJsonMembers(size_t row, std::string* out) const {
  const char* separator = "";
  for (const Column& column : columns_) {
    if (column.key.empty()) continue;
    *out += std::exchange(separator, ",");
    AppendJsonString(out, column.key);
    *out += ':';
    if (column.unit == ResultUnit::kNumberList) {
      out->append("[").append(column.texts[row]).append("]");
    } else if (column.IsText() && !column.IsUnknown(row)) {
      AppendJsonString(out, column.texts[row]);
    } else {
      column.AppendValue(row, "null", out);
    }
  }
  for (const Nested& nested : nested_) {
    *out += std::exchange(separator, ",");
    AppendJsonString(out, nested.rows->description().list);
    *out += ':';
    nested.rows->AppendJsonRows(nested.ranges[row].first, nested.ranges[row].second, out);
  }
}

void ResultTable::AppendJson(size_t limit, std::string* out) const {
  AppendJsonRows(0, RowCount(limit), out);
}

void ResultTable::AppendJsonRows(size_t first, size_t end, std::string* out) const {
  *out += '[';
  for (size_t row = first; row < end; ++row) {
    *out += row == first ? "\n{" : ",\n{";
    AppendJsonMembers(row, out);
    *out += '}';
  }
  *out += "\n]";
}

std::shared_ptr<const OwnedTable> ResultTable::ToTable(std::optional<size_t> limit) const {
  const size_t rows = std::min(limit.value_or(size()), size());
  const auto first = [rows](const auto& values) {
    return std::vector(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rows));
  };
  auto table = std::make_shared<OwnedTable>(description_->list, rows, description_->documentation);
  for (const Column& column : columns_) {
    if (column.key.empty()) continue;
    const OwnedTable::Description described{.name = column.key, .documentation = column.documentation};
    if (column.unit == ResultUnit::kNumberList) {
      std::vector<std::vector<int64_t>> lists;
      for (size_t row = 0; row < rows; ++row)
        lists.push_back(NumbersOf(column.texts[row]));
      table->AddLists(described, std::move(lists));
    } else if (column.IsText()) {
      std::vector<std::optional<std::string_view>> texts;
      for (size_t row = 0; row < rows; ++row)
        texts.push_back(column.IsUnknown(row) ? std::nullopt : std::optional<std::string_view>(column.texts[row]));
      table->AddTexts(described, texts);
    } else if (column.HasDoubles()) {
      table->AddDoubles(described, first(column.doubles));
    } else {
      table->AddNumbers(described, first(column.numbers), kUnknownNumber);
    }
  }
  return table;
}

void AppendRows(VerbResult more, VerbResult* result) {
  for (size_t i = 0; i < result->tables.size(); ++i)
    result->tables[i].Append(std::move(more.tables[i]));
  if (more.omitted.rows > 0) result->omitted = {more.omitted.list, result->omitted.rows + more.omitted.rows};
  if (more.why_empty.empty()) result->why_empty.clear();
}

std::string ResultText(const VerbResult& result, const RowOptions& options) {
  std::string out;
  for (const size_t shown : result.shown) {
    const std::string text = result.tables[shown].Text(options.limit, options.width);
    if (!out.empty() && !text.empty()) out += '\n';
    out += text;
    if (shown == 0) out += result.note;
    if (result.omitted.rows > 0 && result.tables[shown].description().list == result.omitted.list)
      out += std::to_string(result.omitted.rows) + " rows are left out\n";
  }
  return out;
}

std::string ResultJson(const VerbResult& result, std::span<const ResultInput> inputs, const RowOptions& options) {
  std::string out;
  JsonObject document(&out);
  document.Text("schema", "opscope." + std::string(result.tables[0].description().verb) + "/1");
  if (!result.facts_json.empty()) out.append(",").append(result.facts_json);
  if (result.omitted.rows > 0) document.Uint(std::string("omitted_").append(result.omitted.list), result.omitted.rows);
  const auto add = [&](const ResultTable& table) {
    document.Key(table.description().list);
    if (table.description().is_object && table.size() == 1) {
      out += '{';
      table.AppendJsonMembers(0, &out);
      out += '}';
    } else {
      table.AppendJson(options.limit, &out);
    }
  };
  for (const ResultTable& table : result.tables)
    add(table);
  if (result.basis) add(*result.basis);
  document.Key("problems");
  out += result.problems_json ? *result.problems_json : ProblemsJson(inputs);
  if (result.quality) {
    document.Key("quality");
    out += QualityJson(*result.quality);
  }
  document.Close();
  return out + "\n";
}

std::string ResultJson(const VerbResult& result, const Trace& trace, const RowOptions& options) {
  const ResultInput input{&trace, {}};
  return ResultJson(result, std::span(&input, 1), options);
}

}  // namespace opscope
