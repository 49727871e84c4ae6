// A part of a Trace as a Trace: some of its spans, and what happened while they ran.
//
// Thread rule: pure functions of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// `spans`: one entry per span (SpanFilter::Select); those with 1 are kept, below the innermost kept span that was
// around them, with their steps, arguments, stacks, calls and tensors (and steps without a span). Instants, counters,
// allocations and async spans are kept from the first begin of a kept span to the last end of one; an arrow while both
// its ends are. Tracks and processes without anything are left out. Times stay. The metadata "opscope_cut" has the
// numbers of spans before and after, and `condition`. O(n).
[[nodiscard]] Result<Trace> CutTrace(const Trace& trace, const std::vector<uint8_t>& spans,
                                     std::string_view condition = {});

}  // namespace opscope
