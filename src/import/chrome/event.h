// One element of "traceEvents" as slices of the input. The members that most events have are found by name; those of
// "args", and all others, are listed.
//
// Thread rule: plain values; slices live as long as the input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "import/text/json_scan.h"

namespace opscope {

struct ChromeEvent {
  JsonValue phase, name, category, pid, tid, time, duration, scope;
  JsonValue id;             // ids.h
  JsonValue binding_point;  // "bp"; may be left from an earlier event, which has no effect
  std::vector<JsonMember> args;
  std::vector<JsonMember> others;
  bool empty = true;    // "{}"
  uint64_t offset = 0;  // of its '{'

  // The value of the last member of this name in `others`; absent if no member has the name.
  JsonValue Other(std::string_view key) const;
  char phase_letter() const { return phase.is_string() && phase.text.size() == 1 ? phase.text[0] : '\0'; }
};

// Reads the object at the cursor into `event`, whose vectors are reused. False: the scanner failed.
// REQUIRES: at '{'
bool ReadChromeEvent(JsonScanner* scanner, ChromeEvent* event);

}  // namespace opscope
