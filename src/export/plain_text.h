// Texts for formats that want UTF-8 and have no escapes of their own.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opscope {

// `text` with every byte that is no valid UTF-8, and NUL, as \xNN. A backslash that would be taken for the begin of
// such an escape becomes \x5c, so that replacing every \xNN by its byte gives `text` back.
void AppendPlainText(std::string* out, std::string_view text);
[[nodiscard]] std::string PlainText(std::string_view text);

// "train.py(12): step", the way Python's frames are named, in its parts. line 0: it is named otherwise, and function
// is the whole text.
struct FrameParts {
  std::string_view function, file;
  int64_t line = 0;
};
[[nodiscard]] FrameParts PartsOfFrame(std::string_view text);

}  // namespace opscope
