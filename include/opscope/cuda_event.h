// What a record of kind kNative of source kCuda says: one activity record of CUPTI, made small by the CUDA source
// (src/sources/cuda), or a reading of NVML. Import makes tracks of devices, spans and flows of them (src/import/cuda).
//
//   start    nanoseconds of CUPTI's clock, which kClock records tie to the recorder's
//   value    duration in nanoseconds; of kClock: ticks of the recorder; of kReading: what was read
//   depth, reserved   low and high half of the correlation number of the call that it belongs to
//   name     of a kernel as the compiler mangled it, of a call, of a device; else none
//   scope    a CudaEvent
//   side     a payload without fields: header, then the struct below that the event names. Records that say the same
//            share one, so most records take 32 bytes
//
// No struct has padding, so that equal ones have equal bytes. One may grow at its end: a reader takes as much as it
// knows, and zeros for what is not there. Each chunk says kClock and kDevice again, so that it can be read by itself.
//
// Thread rule: constants and plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/record.h"

namespace opscope {

// The numbers stand in recordings: new ones come at the end.
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
  kExternalId = 17,       // CudaExternalIdDetails: somebody's number for what a call is made for
  kPaused = 18,           // start, value = length: what was launched meanwhile is not of the window
  kReading = 19,          // CudaReadingDetails: of a sensor of a device; no record of CUPTI's
  kEnvironment = 20,      // CudaEnvironmentDetails; value: the first eight bytes of what CUPTI tells of the sensor
  kEventNode = 21,        // CudaGraphNodeDetails: a node of a graph that records an event
  kGraphEdge = 22,        // CudaGraphEdgeDetails
  kEventOfGraph = 23,     // as kEventRecord, where only those of nodes were asked for
  kHostNode = 24,         // CudaHostNodeDetails: a node of a graph that calls a function on the CPU
};
inline constexpr uint8_t kCudaEvents = 25;

// What was read, and in which unit.
enum class CudaReading : uint8_t { kNone = 0, kPowerMilliwatts = 1, kSmClockMegahertz = 2 };

inline constexpr uint32_t kCudaNoDevice = 0xffffffff;  // it was not told

struct CudaClockDetails {
  uint64_t bound_ticks = 0;  // by how much the two readings may be apart
};
// Of a device, as Kineto's deviceProperties have it.
struct CudaDeviceDetails {
  uint64_t memory_bytes = 0;
  uint32_t device = 0, compute_major = 0, compute_minor = 0;
  uint32_t threads_per_block = 0, threads_per_sm = 0, warp_size = 0, sms = 0;
  uint32_t registers_per_block = 0, registers_per_sm = 0;
  uint32_t shared_per_block = 0, shared_per_block_optin = 0, shared_per_sm = 0;
};
struct CudaKernelDetails {
  uint64_t graph_node = 0;
  uint32_t device = 0, context = 0, stream = 0, graph = 0;
  uint32_t grid[3] = {}, block[3] = {};
  uint32_t static_shared = 0, dynamic_shared = 0;
  uint16_t registers = 0;
  uint16_t channel_type = 0;
  uint32_t channel = 0;
};
struct CudaCopyDetails {
  uint64_t bytes = 0, graph_node = 0;
  uint32_t device = 0, context = 0, stream = 0, graph = 0;
  uint8_t copy_kind = 0, source_kind = 0, target_kind = 0, flags = 0;
  uint32_t source_device = 0, source_context = 0, target_device = 0, target_context = 0;  // of kPeerCopy
  uint32_t reserved = 0;
};
struct CudaSetDetails {
  uint64_t bytes = 0, graph_node = 0;
  uint32_t device = 0, context = 0, stream = 0, graph = 0;
  uint32_t value = 0, memory_kind = 0;
};
struct CudaCallDetails {
  uint32_t process = 0, thread = 0;  // of the system
  uint32_t callback = 0, result = 0;
};
struct CudaOverheadDetails {
  uint32_t kind = 0;
  uint32_t process = 0, thread = 0;
};
struct CudaSynchronizationDetails {
  uint32_t type = 0, context = 0, stream = 0, event = 0;
  uint64_t event_record = 0;  // its number among the records of CUDA events, 0: not told
};
struct CudaEventRecordDetails {
  uint32_t event = 0, context = 0, stream = 0, device = 0;
  uint64_t number = 0;     // as event_record
  uint64_t device_ns = 0;  // when the device came to it, 0: not told
};
struct CudaContextDetails {
  uint32_t context = 0, device = 0, null_stream = 0;
};
struct CudaStreamDetails {
  uint32_t context = 0, stream = 0, priority = 0, flags = 0;
};
struct CudaGraphDetails {
  uint32_t device = 0, context = 0, stream = 0, graph = 0;
};
struct CudaMemoryDetails {
  uint64_t address = 0, bytes = 0;
  uint32_t operation = 0, kind = 0, process = 0, device = 0, context = 0, stream = 0;
};
struct CudaExternalIdDetails {
  uint64_t id = 0;
  uint32_t kind = 0, reserved = 0;
};
struct CudaReadingDetails {
  uint32_t device = 0, what = 0;  // a CudaReading
};
struct CudaEnvironmentDetails {
  uint32_t device = 0, kind = 0;  // CUPTI's: 1 clocks, 2 temperature, 3 power, 4 fan
};
struct CudaGraphNodeDetails {
  uint64_t node = 0;
};
struct CudaHostNodeDetails {
  uint64_t graph_node = 0;
  uint32_t device = 0, context = 0, stream = 0, graph = 0;  // the stream waits for it
  uint32_t process = 0, thread = 0;                         // that ran it, of the system
};
struct CudaGraphEdgeDetails {
  uint64_t from = 0, to = 0;  // that waits for it
};

inline uint32_t CudaCorrelation(const Record& record) {
  return uint32_t{record.depth} | uint32_t{record.reserved} << 16;
}

}  // namespace opscope
