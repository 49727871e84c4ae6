// The kWindowInfo block: what is known of a window beside its chunks, as JSON text.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "recorder/registry.h"

namespace opscope {

void ReadProcessName(Window* window);

// Valid until the window is freed. Empty: memory is short. REQUIRES: the window is closed.
std::string_view WriteWindowInfo(Window* window);

}  // namespace opscope
