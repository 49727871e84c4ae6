// Parses [[value, ...], ...] once, and finds columns by name.
// SPDX-License-Identifier: Apache-2.0
#include "job/row_values.h"

#include <simdjson.h>

#include <cmath>
#include <numeric>
#include <utility>

namespace opscope {

struct RowValues::Parsed {
  simdjson::dom::parser parser;
  std::vector<std::vector<simdjson::dom::element>> rows;
  std::vector<std::string> columns;

  const simdjson::dom::element* Find(size_t row, std::string_view column) const {
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i] == column) return &rows[row][i];
    return nullptr;
  }
};

namespace {

std::optional<int64_t> AsInteger(const simdjson::dom::element& value) {
  int64_t integer = 0;
  double real = 0;
  if (value.get(integer) == simdjson::SUCCESS) return integer;
  if (value.get(real) == simdjson::SUCCESS && real == std::floor(real) && std::abs(real) < 9e15)
    return static_cast<int64_t>(real);
  return std::nullopt;
}

}  // namespace

RowValues::RowValues(std::unique_ptr<Parsed> parsed) : parsed_(std::move(parsed)) {
}
RowValues::RowValues(RowValues&&) noexcept = default;
RowValues::~RowValues() = default;

Result<RowValues> RowValues::Parse(const JobRows& rows) {
  auto parsed = std::make_unique<Parsed>();
  parsed->columns = rows.columns;
  const Error wrong = {ErrorCode::kMalformed, "the engine did not return a list of rows"};
  simdjson::dom::array list;
  if (parsed->parser.parse(rows.json.data(), rows.json.size()).get(list) != simdjson::SUCCESS) return wrong;
  for (const simdjson::dom::element row : list) {
    simdjson::dom::array values;
    if (row.get(values) != simdjson::SUCCESS || values.size() != rows.columns.size()) return wrong;
    parsed->rows.emplace_back(values.begin(), values.end());
  }
  return RowValues(std::move(parsed));
}

size_t RowValues::size() const {
  return parsed_->rows.size();
}

std::optional<int64_t> RowValues::Integer(size_t row, std::string_view column) const {
  const simdjson::dom::element* const value = parsed_->Find(row, column);
  return value == nullptr ? std::nullopt : AsInteger(*value);
}

std::string RowValues::Text(size_t row, std::string_view column) const {
  const simdjson::dom::element* const value = parsed_->Find(row, column);
  std::string_view text;
  if (value == nullptr || value->get(text) != simdjson::SUCCESS) return "";
  return std::string(text);
}

std::string RowValues::NumberList(size_t row, std::string_view column) const {
  const simdjson::dom::element* const value = parsed_->Find(row, column);
  simdjson::dom::array list;
  std::string text;
  if (value == nullptr || value->get(list) != simdjson::SUCCESS) return text;
  for (const simdjson::dom::element item : list)
    if (const std::optional<int64_t> number = AsInteger(item))
      text.append(text.empty() ? "" : ",").append(std::to_string(*number));
  return text;
}

ResultValue RowValues::Value(size_t row, const ResultColumn& column) const {
  switch (column.unit) {
    case ResultUnit::kText:
    case ResultUnit::kOptionalText:
    case ResultUnit::kFigure:
      return Text(row, column.key);
    case ResultUnit::kNumberList:
      return NumberList(row, column.key);
    case ResultUnit::kShare:
    case ResultUnit::kDouble: {
      const simdjson::dom::element* const value = parsed_->Find(row, column.key);
      double real = 0;
      if (value != nullptr && value->get(real) == simdjson::SUCCESS) return real;
      return {};
    }
    case ResultUnit::kNumber:
    case ResultUnit::kTime:
    case ResultUnit::kBytes:
    case ResultUnit::kAmount:
    case ResultUnit::kTruth:
      return Integer(row, column.key);
  }
  return {};
}

ResultTable RowValues::Table(const ResultDescription& description) const {
  ResultTable table(description);
  std::vector<size_t> rows(size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  for (const ResultColumn& column : description.columns)
    table.Add(column, rows, [&](size_t row) { return Value(row, column); });
  return table;
}

}  // namespace opscope
