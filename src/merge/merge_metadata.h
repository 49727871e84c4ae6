// The metadata of a merged trace: entries that all inputs share, and one member "opscope_merge" with the entries that
// differ and how each input was aligned.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "opscope/merge.h"
#include "opscope/trace.h"
#include "trace/builder.h"

namespace opscope {

using InputMetadata = std::vector<std::pair<std::string, std::string>>;  // key, JSON

[[nodiscard]] InputMetadata MetadataOf(const Trace& trace);

// For a trace that was merged before, by how many nanoseconds each rank's clock was moved then; empty for other traces.
[[nodiscard]] std::map<int32_t, int64_t> OffsetsOfRanks(const Trace& trace);

// REQUIRES: inputs[i] is the metadata of merged.inputs[i].
void AddMergeMetadata(const std::vector<InputMetadata>& inputs, const Merged& merged, TraceBuilder* builder);

}  // namespace opscope
