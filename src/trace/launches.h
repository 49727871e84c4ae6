// Which host span launched each span of a device. Decided once, when a Trace is built, so that tables, modules, flame
// graphs and merged ranks say the same.
//
// The call of the runtime that launched it has its correlation, and the operator that made the call is the innermost
// one around the call on its thread:
//
//   thread   aten::to [ aten::copy_ [ cudaMemcpyAsync, correlation 40 ] ]        aten::add, External id 40
//   stream                                     Memcpy HtoD, correlation 40, External id 40
//
// Kineto's "External id" names the operator, too. But files of older versions have the correlation there, and that may
// be the number of any operator (aten::add above). So the id decides only where no operator is around the call, or the
// call is not in the file, and what it says wrongly is counted.
//
// Thread rule: one thread at a time; several threads may work in one call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/storage.h"

namespace opscope {

// Fills storage->launches. Returns how many device spans have an id that is not that of the operator around their call.
// REQUIRES: spans and tracks are as they will be. O(spans), and nothing where no span has a device or a correlation.
uint64_t FindLaunches(size_t max_threads, TraceStorage* storage);

}  // namespace opscope
