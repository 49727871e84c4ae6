// Ranges, or arguments of ranges, that could not be recorded because torch's own accessors threw or
// memory was short. Counted, because a callback has nobody to tell; the front end makes it a Problem.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

void CountFailure();
uint64_t FailureCount();  // since the library was loaded

}  // namespace opscope
