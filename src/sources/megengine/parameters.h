// The parameters of an operator, which MegEngine keeps as a function that makes texts of them.
//
// Thread rule: any thread. The functions of a window with backtraces ask Python for names: they need its GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace opscope::megengine {

// function: a NativeFunction. Calls `take` for each parameter, in no order. False: the function threw, or there is
// none.
bool ReadParameters(const void* function,
                    void (*take)(void* context, const char* key, size_t key_size, const char* value, size_t value_size),
                    void* context);

}  // namespace opscope::megengine
