// The ways in which writers break rows of JSON, to be put into rows of any format: a change of their text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace opscope {

inline std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

struct Fault {
  const char* name;
  const char* from;
  const char* to;
};

// The writers' own: texts without escapes, values of other languages, commas and brackets forgotten.
inline constexpr Fault kFaults[] = {
    {"quote in the name", "\"name\":", "\"name\": \"ran\"ge\", \"n\":"},
    {"quotes in the name", "\"name\":", "\"name\": \"the \"fast\" one\", \"n\":"},
    {"quote at the end of the name", "\"name\":", "\"name\": \"inch\"\", \"n\":"},
    {"backslash at the end of the name", "\"name\":", "\"name\": \"C:\\\", \"n\":"},
    {"quote and brackets in the name", "\"name\":", "\"name\": \"a\"[{b\", \"n\":"},
    {"no quote in front", "\"name\": \"", "\"name\": "},
    {"no name", "\"name\":", "\"name\": , \"n\":"},
    {"hexadecimal number", "\"args\":", "\"x\": 0x7f12, \"args\":"},
    {"None", "\"args\":", "\"x\": None, \"args\":"},
    {"undefined", "\"args\":", "\"x\": undefined, \"args\":"},
    {"True", "\"args\":", "\"x\": True, \"args\":"},
    {"zeros in front", "\"args\":", "\"x\": 007, \"args\":"},
    {"no zero in front", "\"args\":", "\"x\": .5, \"args\":"},
    {"number that ends early", "\"args\":", "\"x\": 5., \"args\":"},
    {"plus sign", "\"args\":", "\"x\": +5, \"args\":"},
    {"apostrophes", "\"args\":", "'x': 'y', \"args\":"},
    {"address", "\"args\":", "\"x\": <object at 0x7f>, \"args\":"},
    {"missing comma", "\"pid\": 1, ", "\"pid\": 1 "},
    {"missing comma, compact", "\"pid\":1,", "\"pid\":1 "},
    {"missing colon", "\"pid\":", "\"pid\" "},
    {"two commas", "\"pid\":", ", \"pid\":"},
    {"hexadecimal number in args", "\"args\": {", "\"args\": { \"p\": 0x7f, "},
    {"hexadecimal number in args, compact", "\"args\":{", "\"args\":{\"p\":0x7f,"},
    {"None in a list", "[2, 4]", "[None, 4]"},
    {"None in a list, compact", "[2,4]", "[None,4]"},
    {"object in a list", "{\"f\":[1]}", "{\"f\":[0x1]}"},
    {"missing bracket of a list", "[]]", "[]"},
    {"missing brace of an object in a list", "{\"f\":[1]}", "{\"f\":[1]"},
    {"control bytes", "\"args\":", "\"x\": \1\2\3, \"args\":"},
};

}  // namespace opscope
