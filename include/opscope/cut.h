// Cuts a part out of a Trace: some of its spans, and what happened while they ran.
//
//   const opscope::Result<opscope::SpanFilter> filter = opscope::SpanFilter::Parse("step = 3");
//   const std::vector<uint8_t> spans = filter.value().Select(trace);
//   opscope::Result<opscope::Trace> part = opscope::CutTrace(trace, spans, "step = 3");
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

// Copies the selected rows into a new Trace. `spans`: one entry per span
// (SpanFilter::Select), 1 keeps it.
//
//   - A kept span's parent is its innermost kept ancestor. Its steps, arguments, stacks, Python calls and
//     tensors come along; steps without a span come along too.
//   - Instants, counters, allocations and async spans are kept from the first begin of a kept span to the
//     last end of one; a flow is kept if both its ends are.
//   - Tracks and processes without rows are left out. Times do not change.
//   - The metadata "opscope_cut" has the numbers of spans before and after, and `condition`.
//
// O(n). kOutOfMemory: an allocation failed.
[[nodiscard]] Result<Trace> CutTrace(const Trace& trace, const std::vector<uint8_t>& spans,
                                     std::string_view condition = {});

}  // namespace opscope
