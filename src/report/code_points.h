// Text measured and cut by Unicode code points, as Python measures str; a byte that is not UTF-8 counts
// as one.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opscope {

size_t CountCodePoints(std::string_view text);
// text[:count]; a negative count leaves out that many at the end.
std::string_view FirstCodePoints(std::string_view text, int64_t count);
// The last `width` code points, the first three of them as "..."; the whole text when it is short enough.
std::string LastCodePoints(std::string_view text, int64_t width);
// Padded with spaces to `width`, of which the text takes `length`; longer text stays whole.
void AppendPadded(std::string_view text, size_t length, size_t width, bool is_left, std::string* out);
// ASCII only.
std::string UpperCase(std::string_view text);

}  // namespace opscope
