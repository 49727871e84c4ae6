// One element of "traceEvents" as slices of the input. The members that every event may have are
// found by name; those of "args" are listed; anything else is passed over.
//
// Thread rule: plain values; slices live as long as the input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "import/text/json_scan.h"

namespace opscope {

struct ChromeEvent {
  JsonValue phase, name, category, pid, tid, time, duration, scope;
  JsonValue id, id2, id_scope;  // ids.h
  std::vector<JsonMember> args;
  bool empty = true;    // "{}"
  uint64_t offset = 0;  // of its '{'

  char phase_letter() const { return phase.is_string() && phase.text.size() == 1 ? phase.text[0] : '\0'; }
};

// Reads the object at the cursor into `event`, whose vectors are reused. False: the scanner failed.
// REQUIRES: at '{'
bool ReadChromeEvent(JsonScanner* scanner, ChromeEvent* event);

}  // namespace opscope
