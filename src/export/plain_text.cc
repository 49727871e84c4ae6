// Converts arbitrary bytes to UTF-8 without loss: an invalid byte, or NUL, becomes \xNN. So that the result is
// unambiguous, a backslash that already begins such a sequence becomes \x5c. Example: the bytes "a", 0xff become
// `a\xff`; the text `a\xff` becomes `a\x5cxff`.
// SPDX-License-Identifier: Apache-2.0
#include "export/plain_text.h"

#include <charconv>

#include "base/text.h"

namespace opscope {
namespace {

bool LooksEscaped(std::string_view text) {
  return text.size() >= 4 && text[0] == '\\' && text[1] == 'x' && HexDigit(text[2]) >= 0 && HexDigit(text[3]) >= 0;
}

}  // namespace

void AppendPlainText(std::string* out, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8SequenceLength(text.substr(at));
    if (length == 0 || text[at] == '\0' || LooksEscaped(text.substr(at))) {
      const auto byte = static_cast<unsigned char>(text[at]);
      out->append("\\x");
      *out += kDigits[byte >> 4];
      *out += kDigits[byte & 15];
      ++at;
    } else {
      out->append(text.substr(at, length));
      at += length;
    }
  }
}

std::string PlainText(std::string_view text) {
  std::string out;
  AppendPlainText(&out, text);
  return out;
}

FrameParts PartsOfFrame(std::string_view text) {
  // Search from the end: a file name may contain "(12): " itself.
  const size_t colon = text.rfind("): ");
  const size_t open = colon == std::string_view::npos ? colon : text.rfind('(', colon);
  if (open != std::string_view::npos && open != 0) {
    int64_t line = 0;
    const auto [end, error] = std::from_chars(text.data() + open + 1, text.data() + colon, line);
    if (error == std::errc() && end == text.data() + colon && line > 0) {
      return {text.substr(colon + 3), text.substr(0, open), line};
    }
  }
  return {.function = text, .file = {}};
}

}  // namespace opscope
