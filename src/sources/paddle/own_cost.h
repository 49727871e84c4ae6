// What recording one event of Paddle takes on this machine, by the hooks: measured by the source itself once per
// process, a fraction of a millisecond, without running any operator: ranges as Paddle's libraries make them, into a
// window of their own. What Paddle itself does to tell of its events is not in it.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// Members of a JSON object (src/wire/FORMAT.md, "own_cost"), valid for ever; "" while it could not be measured: the
// hooks are not how events are recorded here, or somebody records by them. flags: paddle_source_flags. Best called
// before the recording's own window opens.
const char* PaddleOwnCostJson(uint32_t flags);

}  // namespace opscope
