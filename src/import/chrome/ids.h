// The ids that events name others by: "id", or "id2" with an id of one process ("local") or of all ("global"), within
// the "scope" where there is one. The same id in two scopes, or a local one in two processes, are two. Of arrows
// between ranges also "bind_id", of all processes and categories, in the ranges themselves.
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
  // Its text is that of `value`.
  bool is_plain() const;
  // Text of `value`: of whole numbers however they are spelt ("7" of 7.0).
  std::string ValueText() const;
  // As in AsyncSpanColumns::id.
  std::string Text() const;
  // Equal for all events that it joins, those of one process if it is local.
  std::string PairingText() const;
  // Of flows, within their scope: the number that it is or spells, else a hash.
  uint64_t FlowNumber() const;
  bool has_flow_scope() const { return kind != ScopedId::Kind::kId || scope.present(); }
  // As in FlowColumns::id_scope. REQUIRES: has_flow_scope()
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
