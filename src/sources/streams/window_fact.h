// Adds a fact about a recording: one member of the JSON object in its info block (opscope/window_facts.h has the keys).
//
// Thread rule: any thread. Allocates; may throw std::bad_alloc.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "opscope/recorder.h"

namespace opscope {

inline void AddWindowFact(Window* window, std::string_view key, std::string_view value_json) {
  std::string member = "\"";
  member.append(key).append("\":").append(value_json);
  opscope_window_add_metadata(window, member.c_str());
}

}  // namespace opscope
