// Python's textwrap.wrap(): breaks a text into lines of at most `width` code points, at white space and after hyphens
// between letters. Longer words are cut.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace opscope {

// `text` is UTF-8; all code points beyond ASCII count as letters. O(length * width). REQUIRES: width > 0.
std::vector<std::string> WrapText(std::string_view text, size_t width);

}  // namespace opscope
