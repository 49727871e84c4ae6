// What recording one torch operator, and one user range, takes on this machine: torch's own cost of being
// observed and ours. Measured by the source itself once per process and set of flags, a fraction of a
// millisecond, without running any operator: RecordFunction objects as torch's dispatcher makes them, with
// our callbacks alone, into a window of their own. No other observer sees them.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// Members of a JSON object (src/wire/FORMAT.md, "own_cost"), valid for ever; "" when it could not be
// measured. flags: torch_source_flags. Best called before the recording's own window opens.
const char* OwnCostJson(uint32_t flags);

}  // namespace opscope
