// Folds letters to lower case, so that texts can be compared without regard to case. Of Unicode the alphabets with
// simple pairs of letters: Latin with its Latin-1 and Extended-A letters, Greek, Cyrillic, Armenian and the full-width
// Latin of East Asian fonts. One character gives one character; bytes that are not UTF-8 stay.
//
//   std::string folded;
//   FoldCase("Größe ÄÖ", &folded);      // "größe äö"
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opscope {

[[nodiscard]] uint32_t FoldCodePoint(uint32_t code);

// Replaces the content of `folded`.
void FoldCase(std::string_view text, std::string* folded);

}  // namespace opscope
