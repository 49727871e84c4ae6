// IValue to JSON. Numbers are written so that a reader gets the same type back: 3.0 keeps its ".0". JSON has no NaN and
// no infinities, so these are strings.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/calls/keyword_json.h"

#include <ATen/core/ivalue.h>

#include <charconv>
#include <cmath>

#include "base/json_escape.h"

namespace opscope {
namespace {

template <typename Number>
void AppendNumber(Number number, std::string* json) {
  char text[32];
  json->append(text, std::to_chars(text, text + sizeof(text), number).ptr);
}

void AppendDouble(double number, std::string* json) {
  if (std::isnan(number)) {
    json->append("\"NaN\"");
  } else if (std::isinf(number)) {
    json->append(number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  } else {
    const size_t begin = json->size();
    AppendNumber(number, json);
    if (json->find_first_of(".e", begin) == std::string::npos) json->append(".0");
  }
}

void AppendValue(const c10::IValue& value, std::string* json) {
  if (value.isInt()) {
    AppendNumber(value.toInt(), json);
  } else if (value.isDouble()) {
    AppendDouble(value.toDouble(), json);
  } else if (value.isBool()) {
    json->append(value.toBool() ? "true" : "false");
  } else if (value.isString()) {
    const auto text = value.toStringView();  // older torch returns its own type of view
    AppendQuotedUtf8(json, {text.data(), text.size()});
  } else if (value.isList()) {
    json->push_back('[');
    bool first = true;
    for (const c10::IValue& element : value.toListRef()) {
      if (!first) json->append(", ");
      first = false;
      AppendValue(element, json);
    }
    json->push_back(']');
  } else {
    json->append("null");
  }
}

}  // namespace

std::string KeywordsAsJsonMembers(const std::unordered_map<std::string, c10::IValue>& keywords) {
  std::string json;
  for (const auto& [key, value] : keywords) {
    if (!json.empty()) json.append(", ");
    AppendQuotedUtf8(&json, key);
    json.append(": ");
    AppendValue(value, &json);
  }
  return json;
}

}  // namespace opscope
