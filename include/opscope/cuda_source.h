// The CUDA source: libopscope_cuda, one library, compiled without CUDA and not
// linked to it. It loads CUPTI at the first request to record (OPSCOPE_CUPTI_LIB
// names another library), and records kernels, copies, sets, and calls of the
// runtime and driver of the whole process. Beside `opscope_source` (source.h) it
// exports `opscope_cuda_source`, which returns this table.
//
// A recording starts also if CUDA cannot be recorded: it says why, and has the
// Problem device_not_recorded.
//
// Thread rule: any thread; calls run one after the other. It never takes Python's
// GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "opscope/source.h"

namespace opscope {

// Version of CudaSource.
inline constexpr uint32_t kCudaSourceAbi = 3;

namespace cuda_source_flags {
// Waits for streams and events, and records of events.
inline constexpr uint32_t kSynchronization = 1;
// cudaMalloc, cudaFree and similar calls.
inline constexpr uint32_t kMemory = 2;
// Graph launches as a whole, instead of their nodes.
inline constexpr uint32_t kGraphs = 4;
// Power, temperature, clocks and fan, as CUPTI samples them.
inline constexpr uint32_t kEnvironment = 8;
// Dependencies between nodes of watched graphs (watch_graphs).
inline constexpr uint32_t kGraphEdges = 16;
// Times at which nodes of watched graphs recorded events.
inline constexpr uint32_t kEventNodes = 32;
// Graph nodes that run on the CPU; CUPTI 13.1 and later.
inline constexpr uint32_t kHostNodes = 64;
}  // namespace cuda_source_flags

// What a timer measures. It enables no other CUPTI activity kinds, and keeps times
// alone.
namespace cuda_timer_flags {
inline constexpr uint32_t kKernels = 1u << 16;
inline constexpr uint32_t kCopies = 1u << 17;
inline constexpr uint32_t kPeerCopies = 1u << 18;
inline constexpr uint32_t kSets = 1u << 19;
// The region that a call was made in.
inline constexpr uint32_t kRegions = 1u << 20;
// Set by the source itself.
inline constexpr uint32_t kTimes = 1u << 31;
}  // namespace cuda_timer_flags

// A kernel, copy or set that a timer saw.
struct CudaTimedWork {
  // Graph node; 0: not of a graph.
  uint64_t node = 0;
  // Nanoseconds of CUPTI's clock.
  uint64_t start_ns = 0, end_ns = 0;
  uint32_t stream = 0, correlation = 0;
};
// The region in which a call was made.
struct CudaRegionOfCall {
  uint64_t region = 0;
  uint32_t correlation = 0, reserved = 0;
};
// What a timer has seen since the last drain.
struct CudaTimes {
  const CudaTimedWork* works = nullptr;
  size_t work_count = 0;
  const CudaRegionOfCall* regions = nullptr;
  size_t region_count = 0;
  // Works and regions without room.
  uint64_t dropped = 0;
};

// The interface that front ends need beyond Source.
struct CudaSource {
  // "cuda"; its flags are cuda_source_flags.
  Source source;
  uint32_t abi = kCudaSourceAbi;

  // Path of the CUPTI in use, "" if none was found; version of its API, 0: none.
  const char* (*cupti_path)() = nullptr;
  uint32_t (*cupti_version)() = nullptr;
  // Suggests a libcupti that a framework of this program would load. The first
  // suggestion that loads wins; no effect once CUPTI is loaded.
  void (*suggest_cupti)(const char* file) = nullptr;
  // True if OPSCOPE_CUPTI_LIB names the library: then CUPTI, not the framework,
  // decides whether there is a device.
  bool (*is_named)() = nullptr;
  // Tests whether CUDA can be recorded by enabling an activity kind and disabling
  // it again, if CUPTI has no other user. Writes "" or one line with the reason
  // into `why` (of `size` bytes).
  void (*why_not)(char* why, size_t size) = nullptr;
  // The same for a running recording: "" if it records.
  void (*why_not_recorded)(const void* session_window, char* why, size_t size) = nullptr;
  // Reports that torch's profiler has run in this process and whether it is over.
  // If CUPTI cannot say whether its subscriber records, torch counts as the
  // subscriber.
  void (*set_torch_profiled)(bool is_over) = nullptr;
  // Starts or ends watching the construction of graphs, for kGraphEdges and
  // kEventNodes; calls nest. Writes one line into `why` if it cannot start (there
  // is then nothing to end), else "".
  void (*watch_graphs)(bool is_on, char* why, size_t size) = nullptr;

  // Starts an always-on timer of device work, independent of windows; null: `why`
  // says why not. drain_timer returns what came since the last drain, valid until
  // the next one; `flush` forces CUPTI to deliver its buffers. stop_timer waits for
  // the device and frees the timer.
  void* (*start_timer)(uint32_t flags, char* why, size_t size) = nullptr;
  void (*drain_timer)(void* timer, bool flush, CudaTimes* times) = nullptr;
  void (*stop_timer)(void* timer) = nullptr;
  // Begins and ends a region: calls of this thread in between belong to it. False:
  // CUPTI refused.
  bool (*push_region)(uint64_t id) = nullptr;
  bool (*pop_region)(uint64_t* id) = nullptr;
};

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::CudaSource* opscope_cuda_source();
