// Callbacks to the subscriber while CUDA graphs are created. Handles are the graphs' and nodes' numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sources/cuda/cupti_abi.h"

namespace fake {

namespace cupti = opscope::cuda::cupti;

struct GraphEvent {
  std::uint32_t graph = 0;
  std::uint64_t node = 0, original = 0, dependency = 0;
  cupti::GraphNodeType type = cupti::GraphNodeType::kKernel;
};
// Calls the subscriber if it has enabled the callback. REQUIRES: the library's lock is not held.
void NotifyGraph(cupti::ResourceCallback callback, const GraphEvent& news);

}  // namespace fake
