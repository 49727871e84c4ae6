// Which operator of the forward pass made the autograd node that a backward
// function runs. The arrows of category fwdbwd, the modules of backward functions
// and all that follows from either use this one rule, which is torch's
// (src/trace/forward_match.h).
//
//   const std::vector<SpanId> forward = FindForwardOperators(trace);
//   if (forward[row] != SpanId::kNone) ...  // row is a backward function, forward[row] its forward operator
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "opscope/trace.h"

namespace opscope {

// By span. kNone: not a backward function, or its forward operator is not in the
// trace. A forward operator can have several backward functions: the engine's frame
// around a node, the node itself, and both again when the graph was retained. O(n
// log n) in the spans with a sequence number.
[[nodiscard]] std::vector<SpanId> FindForwardOperators(const Trace& trace);

}  // namespace opscope
