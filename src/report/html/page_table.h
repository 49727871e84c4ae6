// A table of a page, before it is known how many of its rows fit.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/analysis/op_summary.h"
#include "opscope/report/html.h"
#include "opscope/report/result_table.h"

namespace opscope {

// [begin, end) in the timeline; nullopt: none.
using PageRange = std::optional<std::pair<int64_t, int64_t>>;

struct PageTable {
  std::string_view key;
  ResultTable table;
  std::string why_empty;
  std::vector<PageRange> ranges = {};
  // Shares of the bytes of all tables.
  size_t weight = 1;
  // Rows that the table lacks; they are folded with those for which the page has no room.
  OpSummary::LeftOut left_out = {};
  // By row: the rank whose timeline it leads to; nullopt: the page has no spans of it. Empty: of no row.
  std::vector<std::optional<int32_t>> timeline_ranks = {};
};

// A part of a sentence as a sentence: "it has no steps" -> "It has no steps."
[[nodiscard]] std::string PageSentence(std::string part);

// The tables of the tab Ranks. REQUIRES: results.job is not null
void AddJobTables(const PageResults& results, std::vector<PageTable>* tables);

}  // namespace opscope
