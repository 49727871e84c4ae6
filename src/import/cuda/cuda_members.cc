// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_members.h"

#include <cstdio>

#include "base/text.h"
#include "import/cuda/cuda_names.h"
#include "import/cuda/occupancy.h"

namespace opscope {
namespace {

class Members {
 public:
  Members& Number(std::string_view key, int64_t value) {
    AppendInt(&Begin(key), value);
    return *this;
  }
  Members& Unsigned(std::string_view key, uint64_t value) {
    AppendUint(&Begin(key), value);
    return *this;
  }
  // Six decimals, as Kineto prints them.
  Members& Fraction(std::string_view key, float value) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.6f", static_cast<double>(value));
    Begin(key).append(text);
    return *this;
  }
  Members& Three(std::string_view key, const uint32_t (&values)[3]) {
    std::string& out = Begin(key);
    out += '[';
    for (int i = 0; i < 3; ++i) {
      if (i > 0) out.append(", ");
      AppendUint(&out, values[i]);
    }
    out += ']';
    return *this;
  }
  Members& Text(std::string_view key, std::string_view value) {
    AppendJsonString(&Begin(key), value);
    return *this;
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string& Begin(std::string_view key) {
    if (!text_.empty()) text_.append(", ");
    return text_.append("\"").append(key).append("\": ");
  }
  std::string text_;
};

// Streams are numbers of 32 bits, and "none" is shown as -1.
int64_t StreamNumber(uint32_t stream) {
  return static_cast<int32_t>(stream);
}

template <typename Details>
Members& Place(Members& members, const Details& details) {
  return members.Unsigned("device", details.device)
      .Unsigned("context", details.context)
      .Number("stream", StreamNumber(details.stream));
}

template <typename Details>
Members& Graph(Members& members, const Details& details) {
  return members.Unsigned("graph id", details.graph).Unsigned("graph node id", details.graph_node);
}

}  // namespace

std::string KernelMembers(const CudaKernelDetails& kernel, const CudaDeviceDetails& device) {
  Members members;
  members.Number("queued", 0);
  Place(members, kernel)
      .Unsigned("registers per thread", kernel.registers)
      .Unsigned("shared memory", uint64_t{kernel.static_shared} + kernel.dynamic_shared)
      .Fraction("blocks per SM", BlocksPerSm(device, kernel))
      .Fraction("warps per SM", WarpsPerSm(device, kernel))
      .Three("grid", kernel.grid)
      .Three("block", kernel.block)
      .Number("est. achieved occupancy %", OccupancyPercent(device, kernel));
  return Graph(members, kernel).Take();
}

std::string CopyMembers(const CudaCopyDetails& copy, bool is_between_devices) {
  Members members;
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
  return Graph(members, copy).Unsigned("bytes", copy.bytes).Take();
}

std::string SetMembers(const CudaSetDetails& set) {
  Members members;
  Place(members, set);
  return Graph(members, set).Unsigned("bytes", set.bytes).Take();
}

std::string BandwidthMember(uint64_t bytes, Duration duration) {
  if (duration.ns <= 0) return {};
  std::string text = "\"memory bandwidth (GB/s)\": ";
  AppendDouble(&text, static_cast<double>(bytes) / static_cast<double>(duration.ns));
  return text;
}

std::string SynchronizationMembers(const CudaSynchronizationDetails& wait, uint32_t device,
                                   const AwaitedEvent& awaited) {
  Members members;
  members.Text("cuda_sync_kind", SynchronizationName(wait.type));
  if (wait.type == kEventSync || wait.type == kStreamWaitsForEvent) {
    members.Number("wait_on_stream", awaited.stream)
        .Number("wait_on_cuda_event_record_corr_id", awaited.correlation)
        .Number("wait_on_cuda_event_id", StreamNumber(wait.event));
  }
  return members.Number("stream", StreamNumber(wait.stream))
      .Unsigned("device", device)
      .Unsigned("context", wait.context)
      .Take();
}

std::string EventRecordMembers(const CudaEventRecordDetails& event, uint32_t device) {
  Members members;
  return members.Unsigned("event_id", event.event)
      .Number("stream", StreamNumber(event.stream))
      .Unsigned("device", device)
      .Unsigned("context", event.context)
      .Take();
}

std::string GraphMembers(const CudaGraphDetails& graph) {
  Members members;
  return Place(members, graph).Unsigned("graph id", graph.graph).Take();
}

std::string MemoryMembers(const CudaMemoryDetails& memory) {
  Members members;
  return Place(members, memory).Unsigned("Addr", memory.address).Unsigned("Bytes", memory.bytes).Take();
}

std::string CallMembers(const CudaCallDetails& call) {
  Members members;
  return members.Unsigned("cbid", call.callback).Take();
}

std::string DeviceProperties(const CudaDeviceDetails& device, std::string_view name) {
  Members members;
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
  return "{" + members.Take() + "}";
}

}  // namespace opscope
