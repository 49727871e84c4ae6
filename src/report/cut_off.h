// The cause of a snapshot and the spans that were open on each thread, for `opscope info`.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json_object.h"
#include "opscope/analysis/dump.h"

namespace opscope {

// The cause in words: "no step for 1001 ms (dump 3, 2026-11-22 16:12:58 UTC)".
std::string DescribeDump(const DumpCause& cause);

// A block of lines per thread; "" if the recording was not cut off.
std::string FormatOpenSpans(const Trace& trace);

// Appends the members "dump" and "open" if the recording was cut off. `out` is the text of `object`.
void AddCutOff(const Trace& trace, JsonObject* object, std::string* out);

}  // namespace opscope
