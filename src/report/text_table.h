// A table of texts under titles, aligned, and as wide as a terminal has room for.
//
// Where the lines are too long for it, columns are left out from the right, which a line below says, until the name
// column keeps min(40, half the width); then long texts are cut in the middle. No line is ever longer.
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
  bool is_text = false;  // begins at the left and may be cut; the first such column is the name and is never left out
  bool is_kept = false;  // left out only when no other column is left
  std::vector<std::string> cells;  // as they came: the table escapes them (base/shown_text.h)
};

// width 0: any. REQUIRES: columns are equally long.
[[nodiscard]] std::string LayOutTable(std::vector<TextColumn> columns, size_t width);

// How many columns the name keeps in a terminal of this width.
[[nodiscard]] size_t LeastNameWidth(size_t width);

// "Left out: Mean, Min and 3 more" in at most so many columns; 0: all names.
[[nodiscard]] std::string LeftOutLine(const std::vector<std::string>& names, size_t width);

}  // namespace opscope
