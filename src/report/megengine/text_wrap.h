// Python's textwrap.wrap(): the lines of at most `width` code points into which a text falls at white space and behind
// hyphens between letters; words that are longer are cut.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace opscope {

// UTF-8. Letters beyond ASCII count as such; other signs there, too. REQUIRES: width > 0
std::vector<std::string> WrapText(std::string_view text, size_t width);

}  // namespace opscope
