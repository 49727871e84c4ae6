// The ids by which Chrome events refer to each other. An event has "id", or "id2" with an id of one process ("local")
// or of all processes ("global"), and may have a "scope". Equal ids in two scopes are different ids, as are equal local
// ids in two processes. A range may also have "bind_id", which belongs to all processes and categories: it begins or
// ends a flow without an event of its own.
//
// Thread rule: pure functions; slices live as long as the input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/scoped_id.h"
#include "import/chrome/event.h"
#include "import/text/json_scan.h"

namespace opscope {

struct ChromeId {
  JsonValue value, scope;
  ScopedId::Kind kind = ScopedId::Kind::kId;

  bool present() const { return value.present(); }
  bool is_local() const { return kind == ScopedId::Kind::kLocal; }
  // True if Text() returns the text of `value` unchanged: no "id2", no scope, a whole number in its usual spelling.
  bool is_plain() const;
  // Returns `value` as text. Whole numbers have one spelling: "7" for 7 and for 7.0.
  std::string ValueText() const;
  // Returns the text for AsyncSpanColumns::id.
  std::string Text() const;
  // Returns a key that is equal for all events of this id. REQUIRES: for a local id, compare within one process only.
  std::string PairingText() const;
  // Returns the flow's number within its scope: the id itself if it is or spells a number, else a hash of it.
  uint64_t FlowNumber() const;
  bool has_flow_scope() const { return kind != ScopedId::Kind::kId || scope.present(); }
  // Returns the text for FlowColumns::id_scope. REQUIRES: has_flow_scope()
  std::string FlowScopeText() const;
};

ChromeId IdOf(const ChromeEvent& event);

// The event ends an arrow of this id and begins the next one, or does one of the two.
struct ChromeBinding {
  JsonValue bind_id;
  bool in = false, out = false;
};
ChromeBinding BindingOf(const ChromeEvent& event);

}  // namespace opscope
