// Tables as Python's tabulate lays them out, in the three formats of profile_analyze: "simple" without titles,
// "fancy_grid", and "orgtbl" with the rule that Confluence needs.
//
// A column whose texts all read as numbers is a number column: decimal points are aligned, and floats print as "%g".
// Other columns are left-aligned. Empty texts do not affect the type of their column.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace opscope {

using TabulatedCell = std::variant<std::string, double>;  // a text may have several lines
using TabulatedColumn = std::vector<TabulatedCell>;

enum class TableStyle : uint8_t { kSimple, kFancyGrid, kConfluence };

struct Tabulated {
  std::vector<std::string> titles;       // empty: no title row
  std::vector<TabulatedColumn> columns;  // of equal length
  std::vector<bool> continues = {};      // by row: true if no rule separates it from the row above; empty: all false
};

// The lines, without a final line end. Widths are in code points. O(cells).
std::string Tabulate(Tabulated table, TableStyle style);

}  // namespace opscope
