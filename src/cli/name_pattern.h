// Compiles a regular expression for names with the meaning of Python's re.match(): anchored at the begin of the name.
//
// std::regex has another dialect. Common differences are translated: (?P<name>...), a leading (?i), \A, \Z, a bracket
// in first place of a class. Unsupported syntax, such as lookbehind, is an error.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "opscope/result.h"

namespace opscope {

// kInvalidArgument if the pattern is not valid.
[[nodiscard]] Result<std::function<bool(std::string_view name)>> CompileNamePattern(const std::string& pattern);

}  // namespace opscope
