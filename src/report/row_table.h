// The rows of a result, said once and printed three ways: a table for people, CSV, and the "rows" of JSON.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/quality.h"
#include "opscope/report/rows.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

enum class RowUnit : uint8_t { kText, kNumber, kTime, kBytes, kAmount, kShare };

inline constexpr int64_t kNoNumber = INT64_MIN;  // in a column of numbers: there is none

struct RowColumn {
  std::string key;    // in JSON and CSV; "": only for people
  std::string title;  // for people; "": only in JSON and CSV
  RowUnit unit = RowUnit::kNumber;
  std::vector<std::string> texts;  // kText
  std::vector<int64_t> numbers;    // kNumber, kTime (ns), kBytes, kAmount; kNoNumber
  std::vector<double> shares;      // kShare: of 1; NaN: of nothing
  bool is_kept = false;            // for people: does not give way in a narrow terminal
};

class RowTable {
 public:
  // Columns stand in the order in which they are added; all must be equally long in the end. The reference is valid
  // until the next column.
  RowColumn& Add(std::string_view key, std::string_view title, RowUnit unit);
  void AddTexts(std::string_view key, std::string_view title, std::vector<std::string> texts);
  void AddNumbers(std::string_view key, std::string_view title, RowUnit unit, std::vector<int64_t> numbers);
  // Parts of a whole; a whole of 0 has no shares.
  void AddShares(std::string_view key, std::string_view title, const std::vector<int64_t>& parts, int64_t whole);
  // For people: hides a column in which all numbers are 0 or none.
  void HideIfZero(std::string_view key);
  // For people: the column with this key or title stays where others give way, as it was asked for.
  void Keep(std::string_view key);

  // Largest number first, or texts in their order; equal rows stay as they are. "total" may stand for "total_ns" or
  // "total_bytes". The column is kept. kInvalidArgument names the keys.
  [[nodiscard]] Status Sort(std::string_view key);

  // limit 0: all rows; width 0: of any width (report/text_table.h).
  [[nodiscard]] std::string ForPeople(size_t limit, size_t width) const;
  [[nodiscard]] std::string Csv(size_t limit) const;
  void AppendJson(size_t limit, std::string* out) const;  // [{...}, ...]

 private:
  size_t RowCount(size_t limit) const;
  std::vector<const RowColumn*> Shown(bool for_people) const;

  std::vector<RowColumn> columns_;
};

// Rows beside the others, under a key of their own.
struct KeyedRows {
  std::string_view key;
  const RowTable* rows = nullptr;
};

// {"schema": ..., "rows": [...], "problems": [...]}, and behind them "quality", where it was judged, and `more`. rows:
// null where they were not asked for.
[[nodiscard]] std::string RowsJson(std::string_view schema, const Trace& trace, const RowTable* rows,
                                   const RowOptions& options, const Quality* quality = nullptr,
                                   std::span<const KeyedRows> more = {});

}  // namespace opscope
