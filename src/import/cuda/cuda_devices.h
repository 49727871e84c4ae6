// Devices as processes, their streams as tracks, and the device of each context.
//
// As in Kineto's traces a device is a process and a stream is a thread of it. CUPTI's overhead has a track beside them.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/cuda/cuda_record.h"
#include "trace/builder.h"

namespace opscope {

class CudaDevices {
 public:
  explicit CudaDevices(TraceBuilder* builder) : builder_(builder) {}

  // program: the name of the process that uses the devices.
  void Begin(StringId program) { program_ = program; }
  void AddDevice(const CudaDeviceDetails& device, std::string_view name);
  void AddContext(uint32_t context, uint32_t device) { devices_of_contexts_.try_emplace(context, device); }
  // All members are 0 for an unknown device.
  const CudaDeviceDetails& Properties(uint32_t device) const;
  uint32_t DeviceOf(uint32_t context) const;

  TrackId OfStream(uint32_t device, uint32_t stream);
  TrackId FindStream(uint32_t device, uint32_t stream) const;  // kNone: the stream has no track
  TrackId OfAnnotations(TrackId stream);
  TrackId OfOverhead();
  TrackId OfSensors(uint32_t device);
  // Adds the metadata deviceProperties.
  void Finish();

 private:
  ProcessId OfDevice(uint32_t device);

  TraceBuilder* builder_;
  StringId program_ = StringId::kNone;
  std::map<uint32_t, std::pair<CudaDeviceDetails, std::string>> properties_;
  std::map<uint32_t, uint32_t> devices_of_contexts_;
  std::map<uint32_t, ProcessId> processes_;
  std::map<std::pair<uint32_t, uint32_t>, TrackId> streams_;
  std::map<TrackId, TrackId> annotations_;
  std::map<uint32_t, TrackId> sensors_;
  TrackId overhead_ = TrackId::kNone;
};

}  // namespace opscope
