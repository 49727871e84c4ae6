// The memory of tensors over time, where a trace has their lives instead of allocations (MegEngine).
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "opscope/analysis/memory_curves.h"
#include "opscope/trace.h"

namespace opscope {

// A curve for each stream with tensors, by rank, then by track. O(n log n) in lives.
[[nodiscard]] std::vector<MemoryCurve> MeasureTensorLifeCurves(const Trace& trace);

}  // namespace opscope
