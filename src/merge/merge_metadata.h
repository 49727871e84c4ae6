// The metadata of a merged trace: what all inputs say, and one member "opscope_merge" with what only some say and how
// each input was brought in.
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

// Of a trace that was merged before: how far the clock of each rank was moved then. Empty: of any other.
[[nodiscard]] std::map<int32_t, int64_t> OffsetsOfRanks(const Trace& trace);

// `inputs` stand in the order of merged.inputs.
void AddMergeMetadata(const std::vector<InputMetadata>& inputs, const Merged& merged, TraceBuilder* builder);

}  // namespace opscope
