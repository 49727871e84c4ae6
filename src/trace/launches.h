// Finds the host span that launched each span of a device, once, when a Trace is built, so that tables, modules, flame
// graphs and merged ranks agree.
//
// The runtime call that launched a device span has its correlation, and the operator that made the call is the
// innermost one around the call on its thread:
//
//   thread   aten::to [ aten::copy_ [ cudaMemcpyAsync, correlation 40 ] ]        aten::add, External id 40
//   stream                                     Memcpy HtoD, correlation 40, External id 40
//
// Kineto's "External id" names the operator, too. But files of older versions have the correlation there, which may
// equal the id of any operator (aten::add above). So the id decides only if no operator is around the call, or the call
// is not in the file; wrong ids are counted.
//
// Thread rule: one thread at a time; several threads may work in one call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/storage.h"

namespace opscope {

// Fills storage->launches. Returns how many device spans have an id that is not that of the operator around their call.
// REQUIRES: spans and tracks are final. O(spans); O(tracks) if no span has a device or a correlation.
uint64_t FindLaunches(size_t max_threads, TraceStorage* storage);

}  // namespace opscope
