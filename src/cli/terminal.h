// Standard output and standard error as the commands need them.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "opscope/result.h"

namespace opscope {

struct Terminal {
  size_t width = 0;  // of the terminal on standard output; 0: not a terminal
  bool color = false;
};

// Looks at standard output, NO_COLOR, TERM and COLUMNS.
Terminal DetectTerminal(bool no_color);

// Writes everything to standard output. A reader that has gone away is no error.
[[nodiscard]] Status WriteStandardOutput(std::string_view bytes);

// "opscope: MESSAGE" as one line on standard error; what a terminal would obey is escaped (base/shown_text.h).
void PrintError(std::string_view message);

}  // namespace opscope
