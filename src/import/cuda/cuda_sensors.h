// What sensors of devices have said, as counters beside the streams of those devices that have worked.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "import/cuda/cuda_devices.h"
#include "import/cuda/cuda_record.h"
#include "trace/builder.h"

namespace opscope {

class CudaSensors {
 public:
  void Add(const CudaRecord& record, uint64_t value) { samples_.push_back({record, value}); }
  // Adds the counters. working: numbers of devices.
  void Finish(const std::set<uint32_t>& working, CudaDevices* devices, TraceBuilder* builder);

 private:
  struct Sample {
    CudaRecord record;
    uint64_t value;
  };
  std::vector<Sample> samples_;
};

}  // namespace opscope
