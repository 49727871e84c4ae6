// Torch's count of changes of its global callbacks: a private variable of libtorch_cpu, found by what it does. As long
// as it stands still a thread's own list is all that there is to ask.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

namespace opscope {

// Null: not found. Registers, for a moment, a global callback that never runs. May throw std::bad_alloc.
const std::atomic<size_t>* FindGlobalChanges();

}  // namespace opscope
