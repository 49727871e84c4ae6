// A regular expression of a name, as Python's re.match() takes it: from the begin of the name on.
//
// std::regex reads another dialect. What differs and occurs is translated: (?P<name>...), (?i) at the begin, \A, \Z, a
// bracket first in a class. What it has not, such as looking behind, is refused.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "opscope/result.h"

namespace opscope {

// kInvalidArgument: no such expression.
[[nodiscard]] Result<std::function<bool(std::string_view name)>> CompileNamePattern(const std::string& pattern);

}  // namespace opscope
