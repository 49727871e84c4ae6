// The version of torch's global callbacks: a counter that torch raises whenever it adds, removes, enables or disables
// one. While it stays the same, a thread's own list of callbacks is all that the hooks have to look at. The counter is
// a private variable of libtorch_cpu.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

namespace opscope {

// Null: not found. Registers a global callback that never runs, for a moment. May throw std::bad_alloc.
const std::atomic<size_t>* FindGlobalCallbackVersion();

}  // namespace opscope
