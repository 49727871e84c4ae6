// Which rank of which job the processes of a trace are: from Kineto's "distributedInfo", or from what a merge wrote.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/builder.h"

namespace opscope {

// The metadata that `opscope merge` writes: {"world_size": N, "inputs": [{"processes": [{"pid": P, "rank": R}, ...],
// ...}, ...]}.
inline constexpr std::string_view kMergeMetadata = "opscope_merge";

// Sets the ranks of the processes that are there, and the size of the job. To be called when all were added; metadata
// of another shape changes nothing.
void ReadRanks(TraceBuilder* builder);

}  // namespace opscope
