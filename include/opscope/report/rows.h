// Which rows of a result are shown, and in which order.
// In tables for people, control characters, marks of direction and bytes that are no text are escaped. In a terminal
// columns are left out from the right, which a line says, and then long texts are cut, so that no line is wider.
//
// Thread rule: plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace opscope {

// Of every result that has rows.
struct RowOptions {
  size_t limit = 0;  // rows; 0: all
  size_t width = 0;  // of the terminal, in columns; 0: any
  std::string sort;  // a key of the rows, largest first ("total" may stand for "total_ns"); "": as they come
};

}  // namespace opscope
