// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_members.h"

#include "base/member_writer.h"
#include "import/cuda/cuda_names.h"
#include "import/cuda/occupancy.h"

namespace opscope {
namespace {

// Streams are numbers of 32 bits, and "none" is shown as -1.
int64_t StreamNumber(uint32_t stream) {
  return static_cast<int32_t>(stream);
}

template <typename Details>
MemberWriter& Place(MemberWriter& members, const Details& details) {
  return members.Unsigned("device", details.device)
      .Unsigned("context", details.context)
      .Number("stream", StreamNumber(details.stream));
}

template <typename Details>
MemberWriter& Graph(MemberWriter& members, const Details& details) {
  return members.Unsigned("graph id", details.graph).Unsigned("graph node id", details.graph_node);
}

}  // namespace

std::string KernelMembers(const CudaKernelDetails& kernel, const CudaDeviceDetails& device) {
  std::string text;
  MemberWriter members(&text);
  members.Number("queued", 0);
  Place(members, kernel)
      .Unsigned("registers per thread", kernel.registers)
      .Unsigned("shared memory", uint64_t{kernel.static_shared} + kernel.dynamic_shared)
      .Fixed("blocks per SM", static_cast<double>(BlocksPerSm(device, kernel)), 6)
      .Fixed("warps per SM", static_cast<double>(WarpsPerSm(device, kernel)), 6)
      .Three("grid", kernel.grid)
      .Three("block", kernel.block)
      .Number("est. achieved occupancy %", OccupancyPercent(device, kernel));
  Graph(members, kernel);
  return text;
}

std::string CopyMembers(const CudaCopyDetails& copy, bool is_between_devices) {
  std::string text;
  MemberWriter members(&text);
  if (is_between_devices) {
    members.Unsigned("fromDevice", copy.source_device)
        .Unsigned("inDevice", copy.device)
        .Unsigned("toDevice", copy.target_device)
        .Unsigned("fromContext", copy.source_context)
        .Unsigned("inContext", copy.context)
        .Unsigned("toContext", copy.target_context)
        .Number("stream", StreamNumber(copy.stream));
  } else {
    Place(members, copy);
  }
  Graph(members, copy).Unsigned("bytes", copy.bytes);
  return text;
}

std::string SetMembers(const CudaSetDetails& set) {
  std::string text;
  MemberWriter members(&text);
  Place(members, set);
  Graph(members, set).Unsigned("bytes", set.bytes);
  return text;
}

std::string BandwidthMember(uint64_t bytes, Duration duration) {
  if (duration.ns <= 0) return {};
  std::string text;
  MemberWriter(&text).Fraction("memory bandwidth (GB/s)",
                               static_cast<double>(bytes) / static_cast<double>(duration.ns));
  return text;
}

std::string SynchronizationMembers(const CudaSynchronizationDetails& wait, uint32_t device,
                                   const AwaitedEvent& awaited) {
  std::string text;
  MemberWriter members(&text);
  members.Text("cuda_sync_kind", SynchronizationName(wait.type));
  if (wait.type == kEventSync || wait.type == kStreamWaitsForEvent) {
    members.Number("wait_on_stream", awaited.stream)
        .Number("wait_on_cuda_event_record_corr_id", awaited.correlation)
        .Number("wait_on_cuda_event_id", StreamNumber(wait.event));
  }
  members.Number("stream", StreamNumber(wait.stream)).Unsigned("device", device).Unsigned("context", wait.context);
  return text;
}

std::string EventRecordMembers(const CudaEventRecordDetails& event, uint32_t device) {
  std::string text;
  MemberWriter members(&text);
  members.Unsigned("event_id", event.event)
      .Number("stream", StreamNumber(event.stream))
      .Unsigned("device", device)
      .Unsigned("context", event.context);
  return text;
}

std::string GraphMembers(const CudaGraphDetails& graph) {
  std::string text;
  MemberWriter members(&text);
  Place(members, graph).Unsigned("graph id", graph.graph);
  return text;
}

std::string MemoryMembers(const CudaMemoryDetails& memory) {
  std::string text;
  MemberWriter members(&text);
  Place(members, memory).Unsigned("Addr", memory.address).Unsigned("Bytes", memory.bytes);
  return text;
}

std::string CallMembers(const CudaCallDetails& call) {
  std::string text;
  MemberWriter members(&text);
  members.Unsigned("cbid", call.callback);
  return text;
}

std::string DeviceProperties(const CudaDeviceDetails& device, std::string_view name) {
  std::string text;
  MemberWriter members(&text);
  members.Unsigned("id", device.device)
      .Text("name", name)
      .Unsigned("totalGlobalMem", device.memory_bytes)
      .Unsigned("computeMajor", device.compute_major)
      .Unsigned("computeMinor", device.compute_minor)
      .Unsigned("maxThreadsPerBlock", device.threads_per_block)
      .Unsigned("maxThreadsPerMultiprocessor", device.threads_per_sm)
      .Unsigned("regsPerBlock", device.registers_per_block)
      .Unsigned("warpSize", device.warp_size)
      .Unsigned("sharedMemPerBlock", device.shared_per_block)
      .Unsigned("numSms", device.sms)
      .Unsigned("regsPerMultiprocessor", device.registers_per_sm)
      .Unsigned("sharedMemPerBlockOptin", device.shared_per_block_optin)
      .Unsigned("sharedMemPerMultiprocessor", device.shared_per_sm);
  return "{" + text + "}";
}

}  // namespace opscope
