// Escapes foreign text for a terminal, and measures its width there.
//
// A foreign name may hold control characters, escape sequences, and invisible marks or marks that reverse the direction
// of writing. A terminal would act on them, so they are shown as escapes (\x1b, \u202e), as are bytes that are not
// UTF-8 (\xff).
//
// Widths are display columns: East Asian wide characters and emoji have two, combining marks none.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opscope {

struct EscapedCharacter {
  size_t bytes = 1;      // of the text
  char escape[11] = "";  // what is shown in its place; "": itself
  size_t columns = 1;    // of what is shown
};

// The first character of a text that is not empty. Without allocation.
[[nodiscard]] EscapedCharacter FirstEscaped(std::string_view text);

// The whole text, escaped.
[[nodiscard]] std::string EscapedText(std::string_view text);

[[nodiscard]] size_t DisplayWidth(std::string_view text);
// The longest prefix, or suffix, of at most `columns` columns.
[[nodiscard]] std::string_view PrefixOfWidth(std::string_view text, size_t columns);
[[nodiscard]] std::string_view SuffixOfWidth(std::string_view text, size_t columns);
// "begin...end" of at most so many columns.
[[nodiscard]] std::string ElideToWidth(std::string_view text, size_t columns);

// Lines of at most `width` columns: a longer one goes on below, after a blank or comma where there is one, and in the
// column in which its value begins ("Name     value") or a little further in. 0: as it is.
[[nodiscard]] std::string WrapLines(std::string_view text, size_t width);

}  // namespace opscope
