// Decodes the escapes of a JSON string.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace opscope {

// Appends `text`, the content of a string without its quotes, with its escapes decoded. Escapes that JSON does not have
// ("C:\dir", "\u12g4") are copied, backslash included; a lone \udc80..\udcff is the byte 0x80..0xff (AppendJsonString
// writes bytes that are not UTF-8 like that).
void AppendDecoded(std::string* out, std::string_view text);

}  // namespace opscope
