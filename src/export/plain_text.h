// Texts for formats that require UTF-8 and define no escapes, such as protobuf and CSV.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opscope {

// Appends `text` with each invalid byte, and NUL, as \xNN. A backslash that looks like the beginning of such an escape
// becomes \x5c, so that replacing every \xNN by its byte restores `text`.
void AppendPlainText(std::string* out, std::string_view text);
[[nodiscard]] std::string PlainText(std::string_view text);

// The parts of a Python frame's name, "train.py(12): step". For any other text line is 0 and function is the whole
// text.
struct FrameParts {
  std::string_view function, file;
  int64_t line = 0;
};
[[nodiscard]] FrameParts PartsOfFrame(std::string_view text);

}  // namespace opscope
