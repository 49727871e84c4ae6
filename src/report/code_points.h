// Text measured and cut by Unicode code points, as Python measures str. An invalid byte counts as one. Costs are linear
// in the text.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opscope {

size_t CountCodePoints(std::string_view text);
// text[:count]; a negative count drops that many code points at the end.
std::string_view FirstCodePoints(std::string_view text, int64_t count);
// The last `width` code points with the first three replaced by "..."; the whole text if it fits.
std::string LastCodePoints(std::string_view text, int64_t width);
// Appends `text`, which is `length` wide, padded with spaces to `width`. Longer text is not cut.
void AppendPadded(std::string_view text, size_t length, size_t width, bool is_left, std::string* out);
// Converts ASCII letters only.
std::string UpperCase(std::string_view text);

}  // namespace opscope
