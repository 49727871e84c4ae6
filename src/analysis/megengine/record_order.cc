// Orders the rows of profile_analyze by a column. Rows whose value is unknown come last. Numbers are sorted with
// std::stable_sort, or as Python does if there are NaNs (list_sort.h); shapes compare like Python's lists of lists.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/megengine/record_order.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "analysis/megengine/list_sort.h"
#include "base/parse_whole.h"
#include "base/text.h"

namespace opscope {
namespace {

using Records = std::vector<MegEngineRecord>;

constexpr std::string_view kColumnNames[] = {"time",      "computation", "memory",    "flops",
                                             "bandwidth", "opr_id",      "in_shapes", "out_shapes"};

std::optional<double> OperatorId(const MegEngineRecord& record) {
  if (record.opr == nullptr) return std::nullopt;
  const std::optional<int64_t> id = ParseWhole<int64_t>(record.opr->id);
  return id ? std::optional(static_cast<double>(*id)) : std::nullopt;
}

std::optional<double> KeyOf(const MegEngineRecord& record, MegEngineColumn column) {
  switch (column) {
    case MegEngineColumn::kComputation:
      return record.computation;
    case MegEngineColumn::kMemory:
      return record.memory;
    case MegEngineColumn::kFlops:
      return record.flops();
    case MegEngineColumn::kBandwidth:
      return record.bandwidth();
    case MegEngineColumn::kOperatorId:
      return OperatorId(record);
    case MegEngineColumn::kTime:
    case MegEngineColumn::kInShapes:
    case MegEngineColumn::kOutShapes:
      break;
  }
  return record.time;
}

const IntegerLists* ShapesOf(const MegEngineRecord& record, MegEngineColumn column) {
  if (record.opr == nullptr) return nullptr;
  const auto& shapes = column == MegEngineColumn::kInShapes ? record.opr->in_shapes : record.opr->out_shapes;
  return shapes ? &*shapes : nullptr;
}

// Python's comparison of lists of lists: lexicographic, a prefix is less.
bool AreLess(const IntegerLists& a, const IntegerLists& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const auto left = a[i], right = b[i];
    const auto [l, r] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
    if (l == left.end() && r == right.end()) continue;
    return l == left.end() || (r != right.end() && *l < *r);
  }
  return a.size() < b.size();
}

void SortByShapes(const MegEngineOrder& order, Records* records) {
  std::stable_sort(records->begin(), records->end(), [&](const MegEngineRecord& a, const MegEngineRecord& b) {
    const IntegerLists *left = ShapesOf(a, order.column), *right = ShapesOf(b, order.column);
    if (left == nullptr || right == nullptr) return left != nullptr;
    return order.is_ascending ? AreLess(*left, *right) : AreLess(*right, *left);
  });
}

void SortByNumber(const MegEngineOrder& order, Records* records) {
  std::vector<SortedRow> rows;
  std::vector<uint32_t> unknown;
  bool has_nan = false;
  for (uint32_t row = 0; row < records->size(); ++row) {
    const auto key = KeyOf((*records)[row], order.column);
    if (!key) {
      unknown.push_back(row);
      continue;
    }
    has_nan |= std::isnan(*key);
    rows.push_back({.key = order.is_ascending ? *key : -*key, .row = row});
  }
  if (has_nan) TimSort(&rows);
  else std::stable_sort(rows.begin(), rows.end(), [](const SortedRow& a, const SortedRow& b) { return a.key < b.key; });
  Records sorted;
  sorted.reserve(records->size());
  for (const SortedRow& row : rows)
    sorted.push_back((*records)[row.row]);
  for (const uint32_t row : unknown)
    sorted.push_back((*records)[row]);
  *records = std::move(sorted);
}

}  // namespace

std::span<const std::string_view> MegEngineColumnNames() {
  return kColumnNames;
}

Result<MegEngineOrder> ParseMegEngineOrder(std::string_view text) {
  MegEngineOrder order;
  std::string_view name = text;
  if (name.starts_with('+')) {
    order.is_ascending = true;
    name.remove_prefix(1);
  }
  const auto* found = std::find(std::begin(kColumnNames), std::end(kColumnNames), LowerCase(name));
  if (found == std::end(kColumnNames)) {
    std::string message = "there is no column \"" + std::string(name) + "\" to order by; there are:";
    for (const std::string_view column : kColumnNames)
      message.append(" ").append(column);
    return Error{ErrorCode::kInvalidArgument, message, 0};
  }
  order.column = static_cast<MegEngineColumn>(found - std::begin(kColumnNames));
  return order;
}

void SortMegEngineRecords(const MegEngineOrder& order, std::vector<MegEngineRecord>* records) {
  if (order.column == MegEngineColumn::kInShapes || order.column == MegEngineColumn::kOutShapes)
    SortByShapes(order, records);
  else SortByNumber(order, records);
}

}  // namespace opscope
