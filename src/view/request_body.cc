// Reads the members of a request's JSON. Sizes and depth are bounded by the limit of bodies and by simdjson's own.
// SPDX-License-Identifier: Apache-2.0
#include "view/request_body.h"

#include <simdjson.h>

#include <optional>

#include "base/parse_whole.h"

namespace opscope {
namespace {

Error BodyError(const std::string& sentence) {
  return {ErrorCode::kInvalidArgument, sentence, 0};
}

bool AsInteger(simdjson::dom::element element, int64_t* value) {
  if (element.get(*value) == simdjson::SUCCESS) return true;
  std::string_view digits;
  if (element.get(digits) != simdjson::SUCCESS) return false;
  const std::optional<int64_t> number = ParseWhole<int64_t>(digits);
  if (number) *value = *number;
  return number.has_value();
}

}  // namespace

struct RequestBody::Parsed {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
};

RequestBody::RequestBody() : parsed_(std::make_unique<Parsed>()) {
}
RequestBody::~RequestBody() = default;

Status RequestBody::Parse(const std::string& text) {
  simdjson::dom::element root;
  if (parsed_->parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS ||
      root.get(parsed_->object) != simdjson::SUCCESS)
    return BodyError("The body is not a JSON object.");
  return {};
}

bool RequestBody::Has(std::string_view key) const {
  return parsed_->object.at_key(key).error() == simdjson::SUCCESS;
}

Status RequestBody::ReadInteger(std::string_view key, int64_t* value) const {
  simdjson::dom::element element;
  if (parsed_->object.at_key(key).get(element) != simdjson::SUCCESS || !AsInteger(element, value))
    return BodyError("\"" + std::string(key) + "\" is not an integer.");
  return {};
}

Status RequestBody::ReadText(std::string_view key, std::string* value) const {
  std::string_view text;
  if (parsed_->object.at_key(key).get(text) != simdjson::SUCCESS)
    return BodyError("\"" + std::string(key) + "\" is not a text.");
  value->assign(text);
  return {};
}

Status RequestBody::ReadIntegers(std::string_view key, std::vector<int64_t>* values) const {
  const Error error = BodyError("\"" + std::string(key) + "\" is not a list of integers.");
  simdjson::dom::array array;
  if (parsed_->object.at_key(key).get(array) != simdjson::SUCCESS) return error;
  for (const simdjson::dom::element element : array) {
    int64_t value = 0;
    if (!AsInteger(element, &value)) return error;
    values->push_back(value);
  }
  return {};
}

Status RequestBody::ReadRange(std::string_view key, int64_t* begin, int64_t* end) const {
  std::vector<int64_t> both;
  if (!ReadIntegers(key, &both).ok() || both.size() != 2 || both[0] > both[1])
    return BodyError("\"" + std::string(key) + "\" is not a range [a, b] with a <= b.");
  *begin = both[0];
  *end = both[1];
  return {};
}

}  // namespace opscope
