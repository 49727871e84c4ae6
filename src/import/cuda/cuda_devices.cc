// Processes and tracks of devices are made for the first record that needs them, so an idle device has no row. Names,
// labels and sort indexes are those of Kineto, because viewers and comparisons of files depend on them.
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_devices.h"

#include "import/cuda/cuda_members.h"

namespace opscope {
namespace {

// Sort indexes as in Kineto's files: devices come after all processes.
constexpr int64_t kFirstDeviceSortIndex = 5000000;
constexpr int64_t kOverheadSortIndex = 16777226;
constexpr int64_t kOverheadProcess = -1;

}  // namespace

void CudaDevices::AddDevice(const CudaDeviceDetails& device, std::string_view name) {
  properties_.try_emplace(device.device, device, name);
}

const CudaDeviceDetails& CudaDevices::Properties(uint32_t device) const {
  static constexpr CudaDeviceDetails kUnknown;
  const auto found = properties_.find(device);
  return found == properties_.end() ? kUnknown : found->second.first;
}

uint32_t CudaDevices::DeviceOf(uint32_t context) const {
  const auto found = devices_of_contexts_.find(context);
  return found == devices_of_contexts_.end() ? 0 : found->second;
}

ProcessId CudaDevices::OfDevice(uint32_t device) {
  const auto [found, is_new] = processes_.try_emplace(device, ProcessId::kNone);
  if (is_new) {
    found->second = builder_->AddProcess({.pid = device,
                                          .name = program_,
                                          .labels = builder_->Intern("GPU " + std::to_string(device)),
                                          .sort_index = kFirstDeviceSortIndex + device});
  }
  return found->second;
}

TrackId CudaDevices::OfStream(uint32_t device, uint32_t stream) {
  const auto [found, is_new] = streams_.try_emplace({device, stream}, TrackId::kNone);
  if (is_new) {
    const auto number = static_cast<int32_t>(stream);
    found->second = builder_->AddTrack({.process = OfDevice(device),
                                        .kind = TrackKind::kDeviceStream,
                                        .tid = number,
                                        .name = builder_->Intern("stream " + std::to_string(number) + " "),
                                        .sort_index = number,
                                        .device = static_cast<int32_t>(device)});
    builder_->SetCrossing(found->second);
  }
  return found->second;
}

TrackId CudaDevices::FindStream(uint32_t device, uint32_t stream) const {
  const auto found = streams_.find({device, stream});
  return found == streams_.end() ? TrackId::kNone : found->second;
}

TrackId CudaDevices::OfAnnotations(TrackId stream) {
  const auto [found, is_new] = annotations_.try_emplace(stream, TrackId::kNone);
  if (is_new) {
    TrackRow row = builder_->track(stream);
    row.kind = TrackKind::kDeviceAnnotation;
    found->second = builder_->AddTrack(row);
    builder_->SetCrossing(found->second);
  }
  return found->second;
}

TrackId CudaDevices::OfSensors(uint32_t device) {
  const auto [found, is_new] = sensors_.try_emplace(device, TrackId::kNone);
  if (is_new) found->second = builder_->AddTrack({.process = OfDevice(device), .kind = TrackKind::kOther});
  return found->second;
}

TrackId CudaDevices::OfOverhead() {
  if (overhead_ == TrackId::kNone) {
    const ProcessId process = builder_->AddProcess({.pid = kOverheadProcess,
                                                    .name = program_,
                                                    .labels = builder_->Intern("CUPTI Overhead"),
                                                    .sort_index = kOverheadSortIndex});
    overhead_ = builder_->AddTrack({.process = process, .kind = TrackKind::kOther});
    builder_->SetCrossing(overhead_);
  }
  return overhead_;
}

void CudaDevices::Finish() {
  if (properties_.empty()) return;
  std::string json = "[";
  for (const auto& [number, device] : properties_) {
    if (json.size() > 1) json.append(", ");
    json.append(DeviceProperties(device.first, device.second));
  }
  builder_->AddMetadata("deviceProperties", json + "]");
}

}  // namespace opscope
