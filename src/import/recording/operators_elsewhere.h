// A recording without operators while other threads of the process ran: they may have run the operators.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/builder.h"

namespace opscope {

// Adds the problem where no span is an operator and no device has worked. Ranges of the program do not count: they are
// on the threads that are recorded, whichever threads run the operators. Call when all spans are there.
void AddOperatorsElsewhere(TraceBuilder* builder);

}  // namespace opscope
