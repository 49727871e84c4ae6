// Standard output and standard error for the commands.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "opscope/result.h"

namespace opscope {

struct Terminal {
  size_t width = 0;  // columns of the terminal on standard output; 0: not a terminal
  bool color = false;
};

// Columns of the terminal that the descriptor leads to; 80 if it does not say.
size_t ColumnsOfTerminal(int descriptor);

// Reads the state of standard output, and NO_COLOR, TERM and COLUMNS.
Terminal DetectTerminal(bool no_color);

// Writes all bytes to standard output. A closed pipe is not an error.
[[nodiscard]] Status WriteStandardOutput(std::string_view bytes);

// Writes "opscope: MESSAGE" as one line to standard error, with terminal control characters escaped
// (base/escaped_text.h).
void PrintError(std::string_view message);

}  // namespace opscope
