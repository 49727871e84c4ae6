// Converts between the members of a Chrome event that make up an id and the one text that a Trace has for
// it.
//
//   "scope": "net", "id": "0x1"   <->   {"scope": "net", "id": "0x1"}
//
// A text counts as scoped only if writing its parts gives the same text again. So any other text, a JSON
// object of a user included, stays a plain id, and the conversion is reversible.
// SPDX-License-Identifier: Apache-2.0
#include "base/scoped_id.h"

#include <charconv>

#include "base/json_members.h"
#include "base/text.h"

namespace opscope {
namespace {

constexpr std::string_view kKeys[] = {"id", "local", "global"};

}  // namespace

std::string ScopedId::Text() const {
  std::string text = "{";
  if (!json_scope.empty()) text.append("\"scope\": ").append(json_scope).append(", ");
  return text.append("\"").append(kKeys[static_cast<size_t>(kind)]).append("\": ").append(json_id).append("}");
}

std::string ScopedId::Members() const {
  std::string members = "\"id\":" + json_id;
  if (kind != Kind::kId)
    members.assign("\"id2\":{\"").append(kKeys[static_cast<size_t>(kind)]).append("\":").append(json_id).append("}");
  if (!json_scope.empty()) members.append(",\"scope\":").append(json_scope);
  return members;
}

std::string ScopedId::MembersOf(uint64_t number) const {
  ScopedId with_number = *this;
  with_number.json_id.clear();
  if (kind != Kind::kId) with_number.json_id = "\"0x";  // as Chrome writes it
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, kind != Kind::kId ? 16 : 10).ptr;
  with_number.json_id.append(digits, end).append(kind != Kind::kId ? "\"" : "");
  return with_number.Members();
}

ScopedId ParseScopedId(std::string_view text) {
  ScopedId id;
  if (text.starts_with("{\"") && IsJsonValue(text)) {
    const std::string_view members = text.substr(1, text.size() - 2);
    id.json_scope = FindJsonMember(members, "scope");
    for (size_t i = 0; i < 3; ++i) {
      id.json_id = FindJsonMember(members, kKeys[i]);
      id.kind = static_cast<ScopedId::Kind>(i);
      if (id.json_id.starts_with('"') && id.Text() == text) return id;
    }
  }
  id = {};
  AppendJsonString(&id.json_id, text);
  return id;
}

}  // namespace opscope
