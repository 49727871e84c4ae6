// Recorded values as Python literals. A value is parsed and its numbers are printed anew, so a text of a trace cannot
// become code.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace opscope {

// "False" -> False, "1." -> 1.0, "-inf" -> float("-inf"), "1.+2.j" -> complex(1.0, 2.0), "[1, 2]" -> [1, 2]. nullopt:
// none of these. O(length).
[[nodiscard]] std::optional<std::string> PythonLiteral(std::string_view value);

// A text for a comment of Python: printable ASCII as it is, any other byte and the backslash as \xNN. Cut behind 200
// bytes.
[[nodiscard]] std::string CommentText(std::string_view text);

}  // namespace opscope
