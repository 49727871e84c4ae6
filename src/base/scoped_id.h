// Ids that are valid only within a scope or within one process, as one text. Chrome's trace format has members of its
// own for each kind; a Trace has one column for all:
//
//   0x1                             "id": "0x1"
//   {"scope": "net", "id": "0x1"}   "scope": "net", "id": "0x1"
//   {"local": "0x1"}                "id2": {"local": "0x1"}, an id of its process
//   {"global": "0x1"}               "id2": {"global": "0x1"}, which is the same as an "id"
//
// Flows have a column for the number of the id; the text then has an empty id: {"scope": "net", "local": ""}.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opscope {

struct ScopedId {
  enum class Kind : uint8_t { kId, kLocal, kGlobal };
  Kind kind = Kind::kId;
  std::string json_id;     // a JSON string, with its quotes
  std::string json_scope;  // likewise; empty: none

  bool is_plain() const { return kind == Kind::kId && json_scope.empty(); }
  // The one text, as above. REQUIRES: not is_plain(); the text of a plain id is the id itself.
  std::string Text() const;
  // As members of an event: "id":"0x1", or "id2":{"local":"0x1"},"scope":"net".
  std::string Members() const;
  // The same for a flow, with its number as the id.
  std::string MembersOf(uint64_t number) const;
};

// Parses any text; one of another form is a plain id.
[[nodiscard]] ScopedId ParseScopedId(std::string_view text);

}  // namespace opscope
