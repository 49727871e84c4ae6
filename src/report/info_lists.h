// The lists of `opscope info` as members of its object.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json_object.h"
#include "opscope/report/info.h"
#include "opscope/trace.h"

namespace opscope {

// Those that are asked for. `out` is the text of `object`.
void AddLists(const Trace& trace, const InfoLists& lists, JsonObject* object, std::string* out);

}  // namespace opscope
