// The hooks that Paddle's GOT entries point to during a recording.
//
// Paddle constructs a phi::RecordEvent around each event, whether its profiler runs or not. While Paddle's profiler
// does not run, the hooks replace the constructors. While it runs they also call them, and both record.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "sources/paddle/paddle_layout.h"

namespace opscope {

// By paddle_layout::Symbol.
std::array<void*, paddle_layout::kSymbols> PaddleHooks();

// Whether attributes are recorded with the shapes.
void SetAttributesWanted(bool wanted);
// Events of a level above this are not recorded: those that Paddle's own profiler would leave out.
void SetTraceLevel(int32_t level);

}  // namespace opscope
