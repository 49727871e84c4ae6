// Writes the column file of a Trace, piece by piece. The bytes do not depend on the number of threads.
//
// Thread rule: any thread; `take` is called on the caller's thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "opscope/trace.h"

namespace opscope {

using TakeBytes = std::function<bool(std::string_view bytes)>;  // false: stop writing

// threads: number of threads that encode blocks; 0 and 1: the caller alone.
void WriteOpscope(const Trace& trace, size_t threads, const TakeBytes& take);

}  // namespace opscope
