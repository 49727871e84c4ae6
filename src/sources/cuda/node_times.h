// The times that an always-on timer collects from device records: when work ran, on which stream, for which node of a
// graph.
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

// CUPTI's stack of external ids that opscope uses; Kineto uses the first two.
inline constexpr auto kKindOfRegions = cupti::ExternalCorrelationKind::kCustom2;

class NodeTimes {
 public:
  explicit NodeTimes(uint32_t flags) : flags_(flags) {}

  void Add(const DecodedRecord& record);

  std::vector<CudaTimedWork> works;
  std::vector<CudaRegionOfCall> regions;
  uint64_t dropped = 0;  // times that were dropped because nothing took the earlier ones

 private:
  template <typename Details>
  void AddWork(const DecodedRecord& record);

  uint32_t flags_;
};

}  // namespace opscope::cuda
