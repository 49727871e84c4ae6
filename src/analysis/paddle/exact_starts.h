// Starts of spans of Paddle's JSON, which cuts them to microseconds but also says how long after the first event each
// was, with three decimals of a float of 32 bits: exact for the first 16 ms, to 60 ns after a second.
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// By span. Empty: the trace is of another format, and its own starts are as good as any.
[[nodiscard]] std::vector<int64_t> ExactStartsOfPaddlesJson(const Trace& trace);

}  // namespace opscope
