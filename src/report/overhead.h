// The overhead of a recording, for `opscope info` and beside corrected times.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/analysis/overhead.h"

namespace opscope {

[[nodiscard]] Correction CorrectionOf(const SpanOverheads& overhead);

// {"whole_ns", "events", "kinds": {...}} with the costs per event of each kind in ns. REQUIRES: the trace has costs.
[[nodiscard]] std::string OverheadJson(const Trace& trace, const Correction& correction);
// "1.234 ms for 1000 events: scope 28.4 ns, ...". REQUIRES: the trace has costs.
[[nodiscard]] std::string FormatOverhead(const Trace& trace, const Correction& correction);

}  // namespace opscope
