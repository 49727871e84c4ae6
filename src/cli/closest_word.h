// Which known word a mistyped one may mean.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace opscope {

// The known word that the fewest letters added, removed or replaced lead to, the first of several; "" if that takes more
// than a third of the letters. O(known words * letters^2).
[[nodiscard]] std::string ClosestWord(std::string_view word, std::span<const std::string> known);

}  // namespace opscope
