// Reads the names of devices from deviceProperties, which Kineto writes as
//
//   [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42505273344, ...}, ...]
//
// Analyses use no JSON parser. The scan skips over strings as units, so a brace or a "name" inside a text is no member;
// it looks at members of the objects in the list alone.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/trace_devices.h"

#include <string_view>

namespace opscope {
namespace {

constexpr std::string_view kProperties = "deviceProperties";

// The text between the quotes that begin at `at`; moves `at` behind them. Escapes remain as they are written.
std::string_view TakeString(std::string_view json, size_t* at) {
  const size_t begin = ++*at;
  while (*at < json.size() && json[*at] != '"')
    *at += json[*at] == '\\' ? 2 : 1;
  const size_t end = *at < json.size() ? *at : json.size();
  *at = end + 1;
  return json.substr(begin, end - begin);
}

// The one name in the list of devices; "" if there are several.
std::string NameIn(std::string_view json) {
  std::string name;
  int depth = 0;
  std::string_view key;
  for (size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c != '"') {
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (c != ':' && c != ' ') key = {};
      ++at;
      continue;
    }
    const std::string_view text = TakeString(json, &at);
    if (at > json.size()) return "";  // the text does not end
    if (depth == 2 && key == "name") {
      if (!name.empty() && name != text) return "";
      name = text;
      key = {};
    } else {
      key = text;
    }
  }
  return name;
}

}  // namespace

std::string DeviceNameOf(const Trace& trace) {
  const MetadataColumns& metadata = trace.metadata();
  std::string name;
  for (size_t i = 0; i < metadata.size(); ++i)
    if (trace.text(metadata.key[i]) == kProperties) name = NameIn(trace.text(metadata.json[i]));
  return name;
}

}  // namespace opscope
