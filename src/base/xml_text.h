// Texts in XML: JUnit files and flame graphs. Names of operators may hold any bytes; XML 1.0 has no way to write most
// control characters, so those become U+FFFD, as bytes that are not UTF-8 do.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"

namespace opscope {

// Appends `text` as the content of an element or of an attribute in double quotes.
inline void AppendXml(std::string_view text, std::string* out) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    const auto code = static_cast<unsigned char>(text[0]);
    const bool is_allowed = length > 1 ? text.substr(0, 3) != "\xef\xbf\xbe" && text.substr(0, 3) != "\xef\xbf\xbf"
                                       : length == 1 && (code >= 0x20 || code == '\t' || code == '\n' || code == '\r');
    if (!is_allowed) {
      *out += "\xef\xbf\xbd";
    } else if (code == '&') {
      *out += "&amp;";
    } else if (code == '<') {
      *out += "&lt;";
    } else if (code == '>') {
      *out += "&gt;";
    } else if (code == '"') {
      *out += "&quot;";
    } else if (code < 0x20) {
      out->append("&#").append(std::to_string(code)).append(";");
    } else {
      *out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
}

}  // namespace opscope
