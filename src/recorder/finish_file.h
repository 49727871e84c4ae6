// Ends a recording's file: writes chunks that the close has sealed in memory to their positions, appends chunks that
// were recorded in memory, then the window's information and the end mark. The chunks that lie in the file are not
// touched, so this takes milliseconds however large it is.
//
// Thread rule: any thread; one at a time per window, a second call does nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recorder/registry.h"

namespace opscope {

// REQUIRES: the window is closed and has a file.
void FinishFile(Window* window);

// O(threads). Any time until the window is freed.
WindowFile StateOfFile(const Window* window);

}  // namespace opscope
