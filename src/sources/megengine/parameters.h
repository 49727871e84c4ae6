// The parameters of an operator. MegEngine stores them as a function that formats them.
//
// Thread rule: any thread. The functions of a window with backtraces ask Python for names: they need its GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace opscope::megengine {

// function: a NativeFunction. Calls `take` for each parameter, in any order. False: the function is empty or threw.
bool ReadParameters(const void* function,
                    void (*take)(void* context, const char* key, size_t key_size, const char* value, size_t value_size),
                    void* context);

}  // namespace opscope::megengine
