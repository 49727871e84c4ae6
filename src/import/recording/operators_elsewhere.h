// Detects a recording without operators in which other threads of the process, which were not recorded, may have run
// them.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/builder.h"

namespace opscope {

// Adds the problem if no span is an operator and no device has worked. Ranges of the program do not count: they are
// on the threads that are recorded, whichever threads run the operators. Call this after all spans were added.
void AddOperatorsElsewhere(TraceBuilder* builder);

}  // namespace opscope
