// A span as JSON, for the answers of the viewer.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/json_object.h"
#include "opscope/trace.h"

namespace opscope {

// Appends an integer, as a text of digits beyond 2^53.
void AppendExactInteger(std::string* out, int64_t value);

// The members "row", "track", "start", "duration" and "name". REQUIRES: row < trace.spans().size()
void AppendSpanMembers(const Trace& trace, uint32_t row, JsonObject* object);

// {"row": ..., "track": ..., "start": ..., "duration": ..., "name": ...}. REQUIRES: row < trace.spans().size()
void AppendSpanJson(const Trace& trace, uint32_t row, std::string* out);

}  // namespace opscope
