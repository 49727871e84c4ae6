// One field of a CSV file (RFC 4180).
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace opscope {

// Between quotes where it holds a comma, a quote or a line end. A text that a spreadsheet would run as a formula, or
// that begins with an apostrophe, gets an apostrophe before it, so that taking one off gives the text back. Other bytes
// stay as they are.
void AppendCsvField(std::string* out, std::string_view text);

}  // namespace opscope
