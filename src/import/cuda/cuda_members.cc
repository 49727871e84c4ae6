// Members are spelt, ordered and spaced as by Kineto, including its odd spellings, because readers of its files depend
// on them.
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_members.h"

#include "base/json_object.h"
#include "import/cuda/cuda_names.h"
#include "import/cuda/occupancy.h"

namespace opscope {
namespace {

// Streams are 32-bit numbers; no stream is shown as -1.
int64_t StreamNumber(uint32_t stream) {
  return static_cast<int32_t>(stream);
}

template <typename Details>
JsonMemberWriter& Place(JsonMemberWriter& members, const Details& details) {
  return members.Uint("device", details.device)
      .Uint("context", details.context)
      .Int("stream", StreamNumber(details.stream));
}

template <typename Details>
JsonMemberWriter& Graph(JsonMemberWriter& members, const Details& details) {
  return members.Uint("graph id", details.graph).Uint("graph node id", details.graph_node);
}

}  // namespace

std::string KernelMembers(const CudaKernelDetails& kernel, const CudaDeviceDetails& device) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  members.Int("queued", 0);
  Place(members, kernel)
      .Uint("registers per thread", kernel.registers)
      .Uint("shared memory", uint64_t{kernel.static_shared} + kernel.dynamic_shared)
      .Fixed("blocks per SM", static_cast<double>(BlocksPerSm(device, kernel)), 6)
      .Fixed("warps per SM", static_cast<double>(WarpsPerSm(device, kernel)), 6)
      .Uints("grid", kernel.grid, 3)
      .Uints("block", kernel.block, 3)
      .Int("est. achieved occupancy %", OccupancyPercent(device, kernel));
  Graph(members, kernel);
  return text;
}

std::string CopyMembers(const CudaCopyDetails& copy, bool is_between_devices) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  if (is_between_devices) {
    members.Uint("fromDevice", copy.source_device)
        .Uint("inDevice", copy.device)
        .Uint("toDevice", copy.target_device)
        .Uint("fromContext", copy.source_context)
        .Uint("inContext", copy.context)
        .Uint("toContext", copy.target_context)
        .Int("stream", StreamNumber(copy.stream));
  } else {
    Place(members, copy);
  }
  Graph(members, copy).Uint("bytes", copy.bytes);
  return text;
}

std::string SetMembers(const CudaSetDetails& set) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  Place(members, set);
  Graph(members, set).Uint("bytes", set.bytes);
  return text;
}

std::string BandwidthMember(uint64_t bytes, Duration duration) {
  if (duration.ns <= 0) return {};
  std::string text;
  JsonMemberWriter(&text, JsonMemberWriter::kSpaced)
      .Double("memory bandwidth (GB/s)", static_cast<double>(bytes) / static_cast<double>(duration.ns));
  return text;
}

std::string SynchronizationMembers(const CudaSynchronizationDetails& wait, uint32_t device,
                                   const AwaitedEvent& awaited) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  members.Text("cuda_sync_kind", SynchronizationName(wait.type));
  if (wait.type == kEventSync || wait.type == kStreamWaitsForEvent) {
    members.Int("wait_on_stream", awaited.stream)
        .Int("wait_on_cuda_event_record_corr_id", awaited.correlation)
        .Int("wait_on_cuda_event_id", StreamNumber(wait.event));
  }
  members.Int("stream", StreamNumber(wait.stream)).Uint("device", device).Uint("context", wait.context);
  return text;
}

std::string EventRecordMembers(const CudaEventRecordDetails& event, uint32_t device) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  members.Uint("event_id", event.event)
      .Int("stream", StreamNumber(event.stream))
      .Uint("device", device)
      .Uint("context", event.context);
  return text;
}

std::string GraphMembers(const CudaGraphDetails& graph) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  Place(members, graph).Uint("graph id", graph.graph);
  return text;
}

std::string MemoryMembers(const CudaMemoryDetails& memory) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  Place(members, memory).Uint("Addr", memory.address).Uint("Bytes", memory.bytes);
  return text;
}

std::string CallMembers(const CudaCallDetails& call) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  members.Uint("cbid", call.callback);
  return text;
}

std::string DeviceProperties(const CudaDeviceDetails& device, std::string_view name) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  members.Uint("id", device.device)
      .Text("name", name)
      .Uint("totalGlobalMem", device.memory_bytes)
      .Uint("computeMajor", device.compute_major)
      .Uint("computeMinor", device.compute_minor)
      .Uint("maxThreadsPerBlock", device.threads_per_block)
      .Uint("maxThreadsPerMultiprocessor", device.threads_per_sm)
      .Uint("regsPerBlock", device.registers_per_block)
      .Uint("warpSize", device.warp_size)
      .Uint("sharedMemPerBlock", device.shared_per_block)
      .Uint("numSms", device.sms)
      .Uint("regsPerMultiprocessor", device.registers_per_sm)
      .Uint("sharedMemPerBlockOptin", device.shared_per_block_optin)
      .Uint("sharedMemPerMultiprocessor", device.shared_per_sm);
  return "{" + text + "}";
}

}  // namespace opscope
