// Runs of Python's garbage collector as calls, by an entry of gc.callbacks while a window wants them.
//
// Thread rule: the GIL is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope {

// False with a Python exception. Counted: each needs an UnwatchCollector.
bool WatchCollector();
void UnwatchCollector();

}  // namespace opscope
