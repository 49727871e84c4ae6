// Ids are numbers (7, 7.0), text ("7", "0x2a", "abc") or within objects ({"local": 7}). Ids must be equal exactly if a
// viewer would join their events: whole numbers are compared by value in any spelling, a local id within its process,
// an id with a scope within that scope. A flow has a number in the Trace; a text that does not spell a number becomes a
// hash of 53 bits, which every reader of JSON preserves.
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/ids.h"

#include <charconv>
#include <vector>

#include "base/text.h"
#include "base/text_interner.h"
#include "import/text/json_number.h"
#include "import/text/json_walk.h"

namespace opscope {
namespace {

// An id of a flow may be a number, hexadecimal text, or any text.
uint64_t FlowNumberOfText(std::string_view id) {
  if (const auto number = ParseInteger(id)) return static_cast<uint64_t>(*number);
  if (id.starts_with("0x") && id.size() > 2 && id.size() <= 18) {
    uint64_t value = 0;
    const char* const end = id.data() + id.size();
    if (std::from_chars(id.data() + 2, end, value, 16).ptr == end) return value;
  }
  return TextInterner::HashOf(id) >> 11;  // readers of JSON preserve 53 bits
}

std::string JsonString(std::string_view text) {
  std::string json;
  AppendJsonString(&json, text);
  return json;
}

}  // namespace

bool ChromeId::is_plain() const {
  const bool is_as_spelt = !value.is_number() || ParseInteger(value.text) || ParseUnsigned(value.text);
  return kind == ScopedId::Kind::kId && !scope.present() && is_as_spelt;
}

std::string ChromeId::ValueText() const {
  const auto number = ParseWholeNumber(value);
  return number ? std::to_string(*number) : DecodedText(value);
}

std::string ChromeId::Text() const {
  if (kind == ScopedId::Kind::kId && !scope.present()) return ValueText();
  return ScopedId{kind, JsonString(ValueText()), scope.present() ? JsonString(DecodedText(scope)) : ""}.Text();
}

std::string ChromeId::PairingText() const {
  ChromeId same = *this;
  if (kind == ScopedId::Kind::kGlobal) same.kind = ScopedId::Kind::kId;
  return same.Text();
}

uint64_t ChromeId::FlowNumber() const {
  if (const auto number = ParseUnsigned(value.text)) return *number;
  return FlowNumberOfText(ValueText());
}

std::string ChromeId::FlowScopeText() const {
  return ScopedId{kind, "\"\"", scope.present() ? JsonString(DecodedText(scope)) : ""}.Text();
}

ChromeBinding BindingOf(const ChromeEvent& event) {
  const auto is_true = [&](std::string_view key) {
    const JsonValue value = event.Other(key);
    return value.kind == JsonValue::Kind::kTrue || (value.is_string() && value.text == "true") ||
           (value.is_number() && value.text != "0");
  };
  return {.bind_id = event.Other("bind_id"), .in = is_true("flow_in"), .out = is_true("flow_out")};
}

ChromeId IdOf(const ChromeEvent& event) {
  ChromeId id{.value = event.id, .scope = {}};
  if (id.value.kind == JsonValue::Kind::kNull) id.value = {};
  if (event.others.empty()) return id;
  id.scope = event.Other("scope");
  if (id.scope.text.empty()) id.scope = {};
  if (id.present()) return id;
  id.value = event.Other("id2");
  if (id.value.kind != JsonValue::Kind::kObject) return id;
  JsonScanner scanner(id.value.text);
  std::vector<JsonMember> members;
  if (!scanner.ReadMembers(&members)) return id;
  for (const JsonMember& member : members) {
    const bool is_local = member.key.text == "local";
    if (!is_local && member.key.text != "global") continue;
    id.value = member.value;
    id.kind = is_local ? ScopedId::Kind::kLocal : ScopedId::Kind::kGlobal;
  }
  return id;
}

}  // namespace opscope
