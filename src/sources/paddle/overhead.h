// The overhead of recording one event of Paddle by the hooks on this machine. The source measures it once per process,
// in a fraction of a millisecond and without running an operator: it makes ranges as Paddle's libraries do, in a window
// of its own. What Paddle itself spends on its events is not included.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// Members of a JSON object (src/wire/FORMAT.md, "own_cost"), valid for ever; "" while it could not be measured: the
// hooks do not record events here, or a window uses them now. flags: paddle_source_flags. Best called
// before the recording's own window opens.
const char* PaddleOverheadJson(uint32_t flags);

}  // namespace opscope
