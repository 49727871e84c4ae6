// An aligned text table with titles, fitted to the width of a terminal.
//
// If it is too wide, columns are left out from the right, and a line below names them, until the name column keeps
// min(40, half the width). Then long texts are cut in the middle. No line is ever longer than the width.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace opscope {

struct TextColumn {
  std::string title;
  bool is_text = false;            // left-aligned, may be cut; the first one is the name and always shown
  bool is_kept = false;            // left out last
  std::vector<std::string> cells;  // raw texts: the table escapes them (base/escaped_text.h)
};

// width 0: unlimited. O(cells). REQUIRES: columns have equal length.
[[nodiscard]] std::string LayOutTable(std::vector<TextColumn> columns, size_t width);

// Least width of the name column in a terminal of this width.
[[nodiscard]] size_t MinNameWidth(size_t width);

// "Left out: Mean, Min and 3 more" in at most `width` columns; width 0: all names.
[[nodiscard]] std::string LeftOutLine(const std::vector<std::string>& names, size_t width);

}  // namespace opscope
