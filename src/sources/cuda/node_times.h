// What an always-on timer is told of the work of devices: when it ran, on which stream, of which node of a graph.
// Nothing else of the records is kept.
//
// Thread rule: guarded by the collector's mutex.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opscope/cuda_source.h"
#include "sources/cuda/cupti_decode.h"

namespace opscope::cuda {

// Which of CUPTI's stacks of numbers is ours; Kineto has the first two.
inline constexpr auto kKindOfRegions = cupti::ExternalCorrelationKind::kCustom2;

class NodeTimes {
 public:
  explicit NodeTimes(uint32_t flags) : flags_(flags) {}

  void Add(const DecodedRecord& record);

  std::vector<CudaTimedWork> works;
  std::vector<CudaRegionOfCall> regions;
  uint64_t dropped = 0;  // of these, for want of room: nobody has taken them

 private:
  template <typename Details>
  void AddWork(const DecodedRecord& record);

  uint32_t flags_;
};

}  // namespace opscope::cuda
