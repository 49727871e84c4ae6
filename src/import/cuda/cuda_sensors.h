// Readings of device sensors as counters beside the streams, for devices that have worked. Also a counter of the clock
// cycles of each kernel. As in torch they use the median clock of the window, because clocks are sampled more rarely
// than kernels end.
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
  // Call this for each sensor that has samples, before Add and AddKernel.
  void Expect(const CudaEnvironmentDetails& sensor) { has_clocks_ |= sensor.kind == kClocks; }
  bool has_clocks() const { return has_clocks_; }
  void Add(const CudaRecord& record, uint64_t value) { samples_.push_back({record, value}); }
  // Without has_clocks() the kernel gets no cycles.
  void AddKernel(uint32_t device, Timestamp start, Duration duration) { kernels_.push_back({start, duration, device}); }
  // Adds the counters. working: numbers of the devices that have worked.
  void Finish(const std::set<uint32_t>& working, CudaDevices* devices, TraceBuilder* builder);

 private:
  static constexpr uint32_t kClocks = 1;  // CUPTI's number of this kind of sensor
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
