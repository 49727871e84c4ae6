// What a subscriber is told of graphs while they are made. Their handles are their numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sources/cuda/cupti_abi.h"

namespace fake {

namespace cupti = opscope::cuda::cupti;

struct GraphNews {
  std::uint32_t graph = 0;
  std::uint64_t node = 0, original = 0, dependency = 0;
  cupti::GraphNodeType type = cupti::GraphNodeType::kKernel;
};
// Without the library's lock.
void TellOfGraph(cupti::ResourceCallback callback, const GraphNews& news);

}  // namespace fake
