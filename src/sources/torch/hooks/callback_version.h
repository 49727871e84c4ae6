// The version of torch's global callbacks: a counter that torch increments whenever it adds, removes, enables or
// disables one. While it stays the same, the hooks only have to look at the thread's list of callbacks. The counter is
// a private variable of libtorch_cpu.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

namespace opscope {

// Null: not found. Registers, for a moment, a global callback that never runs. May throw std::bad_alloc.
const std::atomic<size_t>* FindGlobalCallbackVersion();

}  // namespace opscope
