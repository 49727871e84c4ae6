// Texts of JSON for libraries that link nothing of ours but the recorder, such as those of torch's old string ABI. All
// others use base/text.h, which takes bytes that are not UTF-8, too.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace opscope {

// UTF-8 as within quotes. Bytes from 0x80 on pass as they are.
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
