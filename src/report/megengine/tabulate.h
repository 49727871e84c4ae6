// Tables as Python's tabulate lays them out, in the three formats of profile_analyze: "simple" without titles,
// "fancy_grid", and "orgtbl" with the line that Confluence wants.
//
// A column in which all texts read as numbers is one of numbers: its points stand below each other, and a float is
// printed as "%g". Any other column begins at the left. An empty text says nothing of its column.
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
  std::vector<std::string> titles;       // empty: none are shown
  std::vector<TabulatedColumn> columns;  // equally long; none: no rows
  std::vector<bool> continues = {};      // by row: no line above it. Empty: none does
};

// Lines without the end of the last one. Widths are in code points.
std::string Tabulate(Tabulated table, TableStyle style);

}  // namespace opscope
