// Writes JSON strings. Header-only, for libraries that link only the recorder, such as those built for torch's old
// string ABI. All others use base/text.h, which also handles bytes that are not UTF-8.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace opscope {

// Appends the content of a JSON string. REQUIRES: text is UTF-8; bytes from 0x80 on are copied unchecked.
inline void AppendEscapedUtf8(std::string* out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  for (const char byte : text) {
    if (static_cast<unsigned char>(byte) < 0x20) {
      out->append("\\u00").append({kHex[byte >> 4], kHex[byte & 15]});
      continue;
    }
    if (byte == '"' || byte == '\\') out->push_back('\\');
    out->push_back(byte);
  }
}

// The same between quotes.
inline void AppendQuotedUtf8(std::string* out, std::string_view text) {
  out->push_back('"');
  AppendEscapedUtf8(out, text);
  out->push_back('"');
}

}  // namespace opscope
