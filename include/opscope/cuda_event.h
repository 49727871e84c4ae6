// Records of kind kNative of source kCuda: one activity record of CUPTI, made
// compact by the CUDA source (src/sources/cuda), or a reading of NVML. Import turns
// them into device tracks, spans and flows (src/import/cuda).
//
//   start    nanoseconds of CUPTI's clock, which kClock records tie to the recorder's clock
//   value    duration in nanoseconds; of kClock: ticks of the recorder; of kReading: the reading
//   depth, reserved   low and high half of the correlation id of the call that it belongs to
//   name     of a kernel (mangled), of a call, of a device; else none
//   scope    a CudaEvent
//   payload  a payload without fields: header, then the struct below that the event names. Records with equal
//            payloads share one, so most records take 32 bytes
//
// No struct has padding, so equal ones have equal bytes. A struct may grow at its
// end: a reader takes what it knows, and zeros for what is missing. Each chunk
// repeats kClock and kDevice, so that it can be read alone.
//
// Numbers of devices, contexts, streams and graphs are CUPTI's. Sizes are bytes. 0
// means "none" for graphs, graph nodes and correlations; kCudaNoDevice for a
// device.
//
// Thread rule: constants and plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/record.h"

namespace opscope {

// What a record says, and the struct of its payload. The numbers stand in files:
// new ones come at the end.
enum class CudaEvent : uint8_t {
  kNone = 0,
  kClock = 1,             // CudaClockDetails
  kDevice = 2,            // CudaDeviceDetails; name
  kWindow = 3,            // start, value = length: where the window lies; what was launched before is not of it
  kKernel = 4,            // CudaKernelDetails; name
  kCopy = 5,              // CudaCopyDetails
  kPeerCopy = 6,          // CudaCopyDetails: between devices
  kSet = 7,               // CudaSetDetails
  kRuntimeCall = 8,       // CudaCallDetails; name
  kDriverCall = 9,        // likewise
  kOverhead = 10,         // CudaOverheadDetails
  kSynchronization = 11,  // CudaSynchronizationDetails
  kEventRecord = 12,      // CudaEventRecordDetails: cudaEventRecord
  kContext = 13,          // CudaContextDetails
  kStream = 14,           // CudaStreamDetails
  kGraph = 15,            // CudaGraphDetails: a whole launch of a graph, in place of its nodes
  kMemory = 16,           // CudaMemoryDetails: cudaMalloc, cudaFree and the like
  kExternalId = 17,       // CudaExternalIdDetails: another profiler's id for the current call
  kPaused = 18,           // start, value = length: what was launched meanwhile is not of the window
  kReading = 19,          // CudaReadingDetails: of a sensor of a device; no record of CUPTI's
  kEnvironment = 20,      // CudaEnvironmentDetails; value: the first eight bytes of what CUPTI tells of the sensor
  kEventNode = 21,        // CudaGraphNodeDetails: a node of a graph that records an event
  kGraphEdge = 22,        // CudaGraphEdgeDetails
  kEventOfGraph = 23,     // as kEventRecord, if only those of nodes were requested
  kHostNode = 24,         // CudaHostNodeDetails: a node of a graph that calls a function on the CPU
};
// Number of events.
inline constexpr uint8_t kCudaEvents = 25;

// What kReading measured, with its unit.
enum class CudaReading : uint8_t { kNone = 0, kPowerMilliwatts = 1, kSmClockMegahertz = 2 };

// Unknown device.
inline constexpr uint32_t kCudaNoDevice = 0xffffffff;

// Of kClock.
struct CudaClockDetails {
  // Largest distance of the two clock readings, in ticks.
  uint64_t bound_ticks = 0;
};
// Properties of a device, as Kineto's deviceProperties.
struct CudaDeviceDetails {
  // Global memory.
  uint64_t memory_bytes = 0;
  // compute_major, compute_minor: compute capability, 9 and 0 of an H100.
  uint32_t device = 0, compute_major = 0, compute_minor = 0;
  uint32_t threads_per_block = 0, threads_per_sm = 0, warp_size = 0, sms = 0;
  uint32_t registers_per_block = 0, registers_per_sm = 0;
  uint32_t shared_per_block = 0, shared_per_block_optin = 0, shared_per_sm = 0;
};
// A kernel launch: configuration and resources.
//
//   grid, block                     dimensions of the launch
//   static_shared, dynamic_shared   bytes of shared memory per block
//   registers                       per thread
//   channel, channel_type           CUPTI's hardware channel
//   graph, graph_node               the CUDA graph that launched it; 0: a call launched it
struct CudaKernelDetails {
  uint64_t graph_node = 0;
  uint32_t device = 0, context = 0, stream = 0, graph = 0;
  uint32_t grid[3] = {}, block[3] = {};
  uint32_t static_shared = 0, dynamic_shared = 0;
  uint16_t registers = 0;
  uint16_t channel_type = 0;
  uint32_t channel = 0;
};
// A copy. Kinds are CUPTI's numbers of copies and memories.
struct CudaCopyDetails {
  uint64_t bytes = 0, graph_node = 0;
  uint32_t device = 0, context = 0, stream = 0, graph = 0;
  uint8_t copy_kind = 0, source_kind = 0, target_kind = 0, flags = 0;
  // Of kPeerCopy.
  uint32_t source_device = 0, source_context = 0, target_device = 0, target_context = 0;
  uint32_t reserved = 0;
};
// A memory set; `value` is the value that was set, memory_kind CUPTI's number of the
// kind of memory.
struct CudaSetDetails {
  uint64_t bytes = 0, graph_node = 0;
  uint32_t device = 0, context = 0, stream = 0, graph = 0;
  uint32_t value = 0, memory_kind = 0;
};
// A call of the runtime or driver.
struct CudaCallDetails {
  // The system's ids.
  uint32_t process = 0, thread = 0;
  // CUPTI's number of the function, and what it returned (cudaError_t or CUresult).
  uint32_t callback = 0, result = 0;
};
// Time that CUPTI itself took.
struct CudaOverheadDetails {
  // CUPTI's number of the cause.
  uint32_t kind = 0;
  uint32_t process = 0, thread = 0;
};
// A wait of the host for the device.
struct CudaSynchronizationDetails {
  // `type` is CUPTI's: what the call waits for, an event, a stream or a context.
  uint32_t type = 0, context = 0, stream = 0, event = 0;
  // Number of the event record that it waited for (CudaEventRecordDetails::number);
  // 0: unknown.
  uint64_t event_record = 0;
};
// A cudaEventRecord.
struct CudaEventRecordDetails {
  uint32_t event = 0, context = 0, stream = 0, device = 0;
  // Identifies this record; see CudaSynchronizationDetails::event_record.
  uint64_t number = 0;
  // Time at which the device reached it; 0: unknown.
  uint64_t device_ns = 0;
};
// A context and its default stream.
struct CudaContextDetails {
  uint32_t context = 0, device = 0, null_stream = 0;
};
// A stream.
struct CudaStreamDetails {
  uint32_t context = 0, stream = 0, priority = 0, flags = 0;
};
// A launch of a whole graph.
struct CudaGraphDetails {
  uint32_t device = 0, context = 0, stream = 0, graph = 0;
};
// An allocation or a free.
struct CudaMemoryDetails {
  uint64_t address = 0, bytes = 0;
  // `operation` and `kind` are CUPTI's: allocation or free, and the kind of memory.
  uint32_t operation = 0, kind = 0, process = 0, device = 0, context = 0, stream = 0;
};
// Another profiler's id for the current call.
struct CudaExternalIdDetails {
  // The id, and CUPTI's number of the profiler that gave it.
  uint64_t id = 0;
  uint32_t kind = 0, reserved = 0;
};
// The sensor of a reading.
struct CudaReadingDetails {
  // `what` is a CudaReading.
  uint32_t device = 0, what = 0;
};
// The sensor of an environment record.
struct CudaEnvironmentDetails {
  // `kind` is CUPTI's: 1 clocks, 2 temperature, 3 power, 4 fan.
  uint32_t device = 0, kind = 0;
};
// A graph node that records an event.
struct CudaGraphNodeDetails {
  uint64_t node = 0;
};
// A graph node that calls a function on the CPU.
struct CudaHostNodeDetails {
  uint64_t graph_node = 0;
  // The stream that waits for it.
  uint32_t device = 0, context = 0, stream = 0, graph = 0;
  // The thread that ran it, by the system's ids.
  uint32_t process = 0, thread = 0;
};
// A dependency between two graph nodes.
struct CudaGraphEdgeDetails {
  // `to` waits for `from`.
  uint64_t from = 0, to = 0;
};

// The correlation id of a record.
inline uint32_t CudaCorrelation(const Record& record) {
  return uint32_t{record.depth} | uint32_t{record.reserved} << 16;
}

}  // namespace opscope
