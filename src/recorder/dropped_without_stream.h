// Events that go to no stream: memory is short for what their thread needs to record, or the thread is past its end.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recorder/registry.h"

namespace opscope {

// Counts one for this window; returns false: its thread has no stream. REQUIRES: registry.mutex is held.
bool CountDropWithoutStream(Window* window);

// The calling thread has no Thread, and so nothing to count in: one for each window that takes its native scopes.
// Returns null, that Thread.
Thread* CountDropWithoutStreamInAll();

}  // namespace opscope
