// Why a dump was written and what was open on each thread, for `opscope info`.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json_object.h"
#include "opscope/analysis/dump.h"

namespace opscope {

// "no step for 1001 ms (dump 3, 2026-11-22 16:12:58 UTC)"
std::string DumpInWords(const DumpCause& cause);

// A block of lines per thread; "" when the input was not cut off.
std::string FormatOpenSpans(const Trace& trace);

// The members "dump" and "open", for an input that has them.
void AddCutOff(const Trace& trace, JsonObject* object, std::string* out);

}  // namespace opscope
