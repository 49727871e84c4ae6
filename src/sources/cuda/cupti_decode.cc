// One function per kind of activity record fills a small event of our own (DecodedRecord). Fields that later versions
// of CUPTI append are read only if the library's version has them (kSince, cupti_abi.h).
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/cupti_decode.h"

#include <new>

namespace opscope::cuda {
namespace {

using cupti::ActivityKind;

template <typename T>
const T& As(const cupti::Activity* record) {
  return *reinterpret_cast<const T*>(record);
}

uint32_t Size(int32_t value) {
  return static_cast<uint32_t>(value);
}

// Sets start and duration. False: a time is unknown.
bool SetTimes(uint64_t start, uint64_t end, DecodedRecord* decoded) {
  decoded->start = start;
  decoded->duration = end > start ? end - start : 0;
  return start != 0 && end != 0;
}

Decoded WholeIf(bool is_whole) {
  return is_whole ? Decoded::kWhole : Decoded::kIncomplete;
}

Decoded DecodeKernel(const cupti::Kernel9& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kKernel;
  decoded->correlation = from.correlation;
  decoded->name = from.name;
  ::new (decoded->RoomFor<CudaKernelDetails>()) CudaKernelDetails{
      .graph_node = from.graph_node_id,
      .device = from.device,
      .context = from.context,
      .stream = from.stream,
      .graph = from.graph_id,
      .grid = {Size(from.grid_x), Size(from.grid_y), Size(from.grid_z)},
      .block = {Size(from.block_x), Size(from.block_y), Size(from.block_z)},
      .static_shared = Size(from.static_shared_memory),
      .dynamic_shared = Size(from.dynamic_shared_memory),
      .registers = from.registers_per_thread,
      .channel_type = static_cast<uint16_t>(from.channel_type),
      .channel = from.channel,
  };
  return WholeIf(SetTimes(from.start, from.end, decoded));
}

// The fields that the two kinds of copies have alike.
template <typename Copy>
CudaCopyDetails CopyDetails(const Copy& from) {
  CudaCopyDetails details;
  details.bytes = from.bytes;
  details.graph_node = from.graph_node_id;
  details.device = from.device;
  details.context = from.context;
  details.stream = from.stream;
  details.graph = from.graph_id;
  details.copy_kind = static_cast<uint8_t>(from.copy_kind);
  details.source_kind = from.source_kind;
  details.target_kind = from.destination_kind;
  details.flags = from.flags;
  return details;
}

Decoded DecodeCopy(const cupti::Memcpy5& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kCopy;
  decoded->correlation = from.correlation;
  decoded->SetDetails(CopyDetails(from));
  return WholeIf(SetTimes(from.start, from.end, decoded));
}

Decoded DecodePeerCopy(const cupti::MemcpyPtoP4& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kPeerCopy;
  decoded->correlation = from.correlation;
  CudaCopyDetails details = CopyDetails(from);
  details.source_device = from.source_device;
  details.source_context = from.source_context;
  details.target_device = from.destination_device;
  details.target_context = from.destination_context;
  decoded->SetDetails(details);
  return WholeIf(SetTimes(from.start, from.end, decoded));
}

Decoded DecodeSet(const cupti::Memset4& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kSet;
  decoded->correlation = from.correlation;
  decoded->SetDetails(CudaSetDetails{.bytes = from.bytes,
                                     .graph_node = from.graph_node_id,
                                     .device = from.device,
                                     .context = from.context,
                                     .stream = from.stream,
                                     .graph = from.graph_id,
                                     .value = from.value,
                                     .memory_kind = from.memory_kind});
  return WholeIf(SetTimes(from.start, from.end, decoded));
}

Decoded DecodeHostNode(const cupti::GraphHostNode& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kHostNode;
  decoded->correlation = from.correlation;
  decoded->SetDetails(CudaHostNodeDetails{.graph_node = from.graph_node_id,
                                          .device = from.device,
                                          .context = from.context,
                                          .stream = from.stream,
                                          .graph = from.graph_id,
                                          .process = from.process,
                                          .thread = from.thread});
  return WholeIf(SetTimes(from.start, from.end, decoded));
}

Decoded DecodeCall(const cupti::Api& from, DecodedRecord* decoded) {
  const bool is_runtime = from.kind == ActivityKind::kRuntime;
  decoded->event = is_runtime ? CudaEvent::kRuntimeCall : CudaEvent::kDriverCall;
  decoded->domain = is_runtime ? cupti::CallbackDomain::kRuntimeApi : cupti::CallbackDomain::kDriverApi;
  decoded->correlation = from.correlation;
  decoded->SetDetails(CudaCallDetails{
      .process = from.process, .thread = from.thread, .callback = from.cbid, .result = from.return_value});
  SetTimes(from.start, from.end, decoded);
  return Decoded::kWhole;
}

Decoded DecodeOverhead(const cupti::Activity* record, uint32_t version, DecodedRecord* decoded) {
  const auto& from = As<cupti::Overhead>(record);
  decoded->event = CudaEvent::kOverhead;
  const bool is_of_thread =
      from.object_kind == cupti::ObjectKind::kThread || from.object_kind == cupti::ObjectKind::kProcess;
  decoded->SetDetails(CudaOverheadDetails{.kind = static_cast<uint32_t>(from.overhead_kind),
                                          .process = is_of_thread ? from.object.process_or_device : 0,
                                          .thread = is_of_thread ? from.object.thread_or_context : 0});
  SetTimes(from.start, from.end, decoded);
  if (version >= cupti::Overhead2::kSince) decoded->correlation = As<cupti::Overhead2>(record).correlation;
  return Decoded::kWhole;
}

Decoded DecodeSynchronization(const cupti::Activity* record, uint32_t version, DecodedRecord* decoded) {
  const auto& from = As<cupti::Synchronization>(record);
  decoded->event = CudaEvent::kSynchronization;
  decoded->correlation = from.correlation;
  CudaSynchronizationDetails details{
      .type = static_cast<uint32_t>(from.type), .context = from.context, .stream = from.stream, .event = from.event};
  if (version >= cupti::Synchronization2::kSince) {
    details.event_record = As<cupti::Synchronization2>(record).event_sync_id;
  }
  decoded->SetDetails(details);
  SetTimes(from.start, from.end, decoded);
  return Decoded::kWhole;
}

Decoded DecodeEventRecord(const cupti::Activity* record, uint32_t version, DecodedRecord* decoded) {
  const auto& from = As<cupti::CudaEvent>(record);
  decoded->event = opscope::CudaEvent::kEventRecord;
  decoded->correlation = from.correlation;
  CudaEventRecordDetails details{
      .event = from.event, .context = from.context, .stream = from.stream, .device = kCudaNoDevice};
  if (version >= cupti::CudaEvent2::kSince) {
    const auto& more = As<cupti::CudaEvent2>(record);
    details.device = more.device;
    details.number = more.event_sync_id;
    details.device_ns = decoded->start = more.device_timestamp;
  }
  decoded->SetDetails(details);
  return Decoded::kWhole;
}

Decoded DecodeDevice(const cupti::Device4& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kDevice;
  decoded->name = from.name;
  decoded->SetDetails(CudaDeviceDetails{
      .memory_bytes = from.global_memory_size,
      .device = from.id,
      .compute_major = from.compute_capability_major,
      .compute_minor = from.compute_capability_minor,
      .threads_per_block = from.max_threads_per_block,
      .threads_per_sm = from.max_warps_per_multiprocessor * from.threads_per_warp,
      .warp_size = from.threads_per_warp,
      .sms = from.multiprocessors,
      .registers_per_block = from.max_registers_per_block,
      .registers_per_sm = from.max_registers_per_multiprocessor,
      .shared_per_block = from.max_shared_memory_per_block,
      .shared_per_block_optin = 0,
      .shared_per_sm = from.max_shared_memory_per_multiprocessor,
  });
  return Decoded::kWhole;
}

Decoded DecodeGraph(const cupti::GraphTrace& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kGraph;
  decoded->correlation = from.correlation;
  decoded->SetDetails(
      CudaGraphDetails{.device = from.device, .context = from.context, .stream = from.stream, .graph = from.graph});
  return WholeIf(SetTimes(from.start, from.end, decoded));
}

Decoded DecodeMemory(const cupti::Memory3& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kMemory;
  decoded->correlation = from.correlation;
  decoded->start = from.timestamp;
  decoded->SetDetails(CudaMemoryDetails{.address = from.address,
                                        .bytes = from.bytes,
                                        .operation = static_cast<uint32_t>(from.operation),
                                        .kind = static_cast<uint32_t>(from.memory_kind),
                                        .process = from.process,
                                        .device = from.device,
                                        .context = from.context,
                                        .stream = from.stream});
  return Decoded::kWhole;
}

Decoded DecodeContext(const cupti::Context& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kContext;
  decoded->SetDetails(
      CudaContextDetails{.context = from.context, .device = from.device, .null_stream = from.null_stream});
  return Decoded::kWhole;
}

Decoded DecodeStream(const cupti::Stream& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kStream;
  decoded->correlation = from.correlation;
  decoded->SetDetails(CudaStreamDetails{.context = from.context,
                                        .stream = from.stream,
                                        .priority = from.priority,
                                        .flags = static_cast<uint32_t>(from.flag)});
  return Decoded::kWhole;
}

Decoded DecodeExternalId(const cupti::ExternalCorrelation& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kExternalId;
  decoded->correlation = from.correlation;
  decoded->SetDetails(CudaExternalIdDetails{.id = from.external_id, .kind = static_cast<uint32_t>(from.external_kind)});
  return Decoded::kWhole;
}

Decoded DecodeEnvironment(const cupti::Environment& from, DecodedRecord* decoded) {
  decoded->event = CudaEvent::kEnvironment;
  decoded->start = from.timestamp;
  std::memcpy(&decoded->duration, &from.speed, sizeof(decoded->duration));
  decoded->SetDetails(
      CudaEnvironmentDetails{.device = from.device, .kind = static_cast<uint32_t>(from.environment_kind)});
  return Decoded::kWhole;
}

}  // namespace

Decoded Decode(const cupti::Activity* record, uint32_t version, DecodedRecord* decoded) {
  // Buffers are read once, from one end to the other; the processor's own look ahead ends with each page.
  constexpr size_t kAhead = 1024, kLine = 64;
  __builtin_prefetch(reinterpret_cast<const char*>(record) + kAhead);
  __builtin_prefetch(reinterpret_cast<const char*>(record) + kAhead + kLine);
  decoded->domain = cupti::CallbackDomain::kInvalid;
  decoded->correlation = 0;
  decoded->start = decoded->duration = 0;
  decoded->name = nullptr;
  switch (record->kind) {
    case ActivityKind::kKernel:
    case ActivityKind::kConcurrentKernel:
      return DecodeKernel(As<cupti::Kernel9>(record), decoded);
    case ActivityKind::kMemcpy:
      return DecodeCopy(As<cupti::Memcpy5>(record), decoded);
    case ActivityKind::kMemcpy2:
      return DecodePeerCopy(As<cupti::MemcpyPtoP4>(record), decoded);
    case ActivityKind::kMemset:
      return DecodeSet(As<cupti::Memset4>(record), decoded);
    case ActivityKind::kGraphHostNode:
      return DecodeHostNode(As<cupti::GraphHostNode>(record), decoded);
    case ActivityKind::kRuntime:
    case ActivityKind::kDriver:
      return DecodeCall(As<cupti::Api>(record), decoded);
    case ActivityKind::kOverhead:
      return DecodeOverhead(record, version, decoded);
    case ActivityKind::kSynchronization:
      return DecodeSynchronization(record, version, decoded);
    case ActivityKind::kCudaEvent:
      return DecodeEventRecord(record, version, decoded);
    case ActivityKind::kDevice:
      return DecodeDevice(As<cupti::Device4>(record), decoded);
    case ActivityKind::kContext:
      return DecodeContext(As<cupti::Context>(record), decoded);
    case ActivityKind::kStream:
      return DecodeStream(As<cupti::Stream>(record), decoded);
    case ActivityKind::kGraphTrace:
      return DecodeGraph(As<cupti::GraphTrace>(record), decoded);
    case ActivityKind::kMemory2:
      return DecodeMemory(As<cupti::Memory3>(record), decoded);
    case ActivityKind::kExternalCorrelation:
      return DecodeExternalId(As<cupti::ExternalCorrelation>(record), decoded);
    case ActivityKind::kEnvironment:
      return DecodeEnvironment(As<cupti::Environment>(record), decoded);
    case ActivityKind::kName:
    case ActivityKind::kInternalLaunchApi:
    case ActivityKind::kMemoryPool:
    case ActivityKind::kJit:
    case ActivityKind::kDeviceGraphTrace:
    case ActivityKind::kMemDecompress:
      return Decoded::kLeftOut;
    default:
      return Decoded::kUnknown;
  }
}

}  // namespace opscope::cuda
