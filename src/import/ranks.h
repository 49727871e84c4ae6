// Ranks of the processes of a trace, from Kineto's "distributedInfo" or from the metadata of a merge, and their hosts,
// from "host_name" of Kineto and of recordings.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/builder.h"

namespace opscope {

// The metadata that `opscope merge` writes: {"world_size": N, "inputs": [{"processes": [{"pid": P, "rank": R}, ...],
// ...}, ...]}.
inline constexpr std::string_view kMergeMetadata = "opscope_merge";

// Sets ranks and hosts of the processes, and the size of the job. Call it after all processes were added. Ignores
// metadata of another form.
void ReadRanksAndHosts(TraceBuilder* builder);

}  // namespace opscope
