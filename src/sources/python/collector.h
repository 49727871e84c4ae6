// Records runs of Python's garbage collector as calls, by an entry of gc.callbacks, while a window needs them.
//
// Thread rule: the GIL is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope {

// Calls nest: each successful call needs an UnwatchCollector. False with a Python exception.
bool WatchCollector();
void UnwatchCollector();

}  // namespace opscope
