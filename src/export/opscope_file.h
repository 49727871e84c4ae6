// The column file of a Trace, piece by piece. The bytes are the same however many threads make them.
//
// Thread rule: any thread; `take` is called by the caller's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "opscope/trace.h"

namespace opscope {

using TakeBytes = std::function<bool(std::string_view bytes)>;  // false: no more is wanted

// threads: that make blocks; 0 and 1: the caller alone.
void WriteOpscope(const Trace& trace, size_t threads, const TakeBytes& take);

}  // namespace opscope
