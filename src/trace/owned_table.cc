// Columns of an OwnedTable are byte strings in a deque, and texts are keys of a map: neither moves its elements, so the
// view can point to them while columns are added.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/owned_table.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace opscope {
namespace {

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

OwnedTable::OwnedTable(std::string_view name, size_t rows, std::string_view documentation) {
  view_.name = names_.emplace_back(name);
  view_.rows = rows;
  view_.documentation = names_.emplace_back(documentation);
  view_.first_own_text = static_cast<uint32_t>(trace_.string_count());
}

TableColumn& OwnedTable::AddColumn(const Description& column, ColumnType type) {
  TableColumn& added = view_.columns.emplace_back();
  added.name = names_.emplace_back(column.name);
  added.documentation = names_.emplace_back(column.documentation);
  added.type = type;
  return added;
}

void OwnedTable::AddTexts(const Description& column, const std::vector<std::optional<std::string_view>>& texts) {
  std::vector<uint32_t>& ids = text_ids_.emplace_back();
  ids.reserve(texts.size());
  for (const std::optional<std::string_view>& text : texts) {
    if (!text) {
      ids.push_back(Row(StringId::kNone));
      continue;
    }
    const uint32_t next = view_.first_own_text + static_cast<uint32_t>(ids_.size());
    const auto [found, is_new] = ids_.try_emplace(std::string(*text), next);
    if (is_new) view_.own_texts.push_back(found->first);
    ids.push_back(found->second);
  }
  TableColumn& added = AddColumn(column, ColumnType::kUint32);
  added.meaning = ColumnMeaning::kText;
  added.unknown = kNoneBits;
  added.data = ids.data();
}

void OwnedTable::AddNumbers(const Description& column, const std::vector<int64_t>& numbers, int64_t unknown) {
  AddBytes(column, ColumnType::kInt64, BytesOf(numbers), static_cast<uint64_t>(unknown));
}

void OwnedTable::AddDoubles(const Description& column, const std::vector<double>& doubles) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values = doubles;
  for (double& value : values) {
    if (std::isnan(value)) value = unknown;  // all with the same bits
  }
  AddBytes(column, ColumnType::kFloat64, BytesOf(values), std::bit_cast<uint64_t>(unknown));
}

void OwnedTable::AddLists(const Description& column, std::vector<std::vector<int64_t>> lists) {
  const std::vector<std::vector<int64_t>>& added = lists_.emplace_back(std::move(lists));
  AddBytes(column, ColumnType::kInt64List, BytesOf(std::vector<Int64List>(added.begin(), added.end())));
}

void OwnedTable::AddBytes(const Description& column, ColumnType type, std::string bytes,
                          std::optional<uint64_t> unknown) {
  TableColumn& added = AddColumn(column, type);
  added.data = values_.emplace_back(std::move(bytes)).data();
  added.unknown = unknown;
}

std::shared_ptr<const Trace> OwnedTable::TraceOf(std::shared_ptr<const OwnedTable> table) {
  const Trace* trace = &table->trace_;
  return {std::move(table), trace};
}

}  // namespace opscope
