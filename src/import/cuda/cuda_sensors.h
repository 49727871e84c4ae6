// What sensors of devices have said, as counters beside the streams of those devices that have worked; and how many
// cycles of the device's clock each kernel took, by the clock that was between the others in the window (as torch
// computes them: clocks are sampled less often than kernels end).
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "import/cuda/cuda_devices.h"
#include "import/cuda/cuda_record.h"
#include "trace/builder.h"

namespace opscope {

class CudaSensors {
 public:
  // Of each sensor that has samples, before the rest.
  void Expect(const CudaEnvironmentDetails& sensor) { has_clocks_ |= sensor.kind == kClocks; }
  bool has_clocks() const { return has_clocks_; }
  void Add(const CudaRecord& record, uint64_t value) { samples_.push_back({record, value}); }
  // REQUIRES: has_clocks(); else nothing comes of it.
  void AddKernel(uint32_t device, Timestamp start, Duration duration) { kernels_.push_back({start, duration, device}); }
  // Adds the counters. working: numbers of devices.
  void Finish(const std::set<uint32_t>& working, CudaDevices* devices, TraceBuilder* builder);

 private:
  static constexpr uint32_t kClocks = 1;  // CUPTI's number of the kind
  struct Sample {
    CudaRecord record;
    uint64_t value;
  };
  struct Kernel {
    Timestamp start;
    Duration duration;
    uint32_t device;
  };
  void AddCycles(const std::map<uint32_t, std::vector<uint32_t>>& clocks, CudaDevices* devices,
                 TraceBuilder* builder) const;

  std::vector<Sample> samples_;
  std::vector<Kernel> kernels_;
  bool has_clocks_ = false;
};

}  // namespace opscope
