// The CUDA source: libopscope_cuda, one library, compiled without CUDA and linked to none of it. It loads CUPTI when it
// is first asked to record (OPSCOPE_CUPTI_LIB names another one), and records kernels, copies, sets and calls of the
// runtime and driver of the whole process. Beside `opscope_source` (source.h) it exports `opscope_cuda_source`, which
// returns this table.
//
// A recording begins also where CUDA cannot be recorded: it then says why, and has the problem device_not_recorded.
//
// Thread rule: any thread; calls take turns. Python's GIL is never taken.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "opscope/source.h"

namespace opscope {

inline constexpr uint32_t kCudaSourceAbi = 3;

namespace cuda_source_flags {
inline constexpr uint32_t kSynchronization = 1;  // waits for streams and events, and records of events
inline constexpr uint32_t kMemory = 2;           // cudaMalloc, cudaFree and the like
inline constexpr uint32_t kGraphs = 4;           // graphs as a whole, in place of their nodes
inline constexpr uint32_t kEnvironment = 8;      // power, temperature, clocks and fan, as CUPTI samples them
inline constexpr uint32_t kGraphEdges = 16;      // what nodes of graphs wait for, of graphs that were watched
inline constexpr uint32_t kEventNodes = 32;      // when nodes of graphs recorded events, likewise
inline constexpr uint32_t kHostNodes = 64;       // nodes of graphs that run on the CPU, from CUPTI 13.1 on
}  // namespace cuda_source_flags

// Of a timer. CUPTI is asked for no other kinds than these, and nothing but times is kept of them.
namespace cuda_timer_flags {
inline constexpr uint32_t kKernels = 1u << 16;
inline constexpr uint32_t kCopies = 1u << 17;
inline constexpr uint32_t kPeerCopies = 1u << 18;
inline constexpr uint32_t kSets = 1u << 19;
inline constexpr uint32_t kRegions = 1u << 20;  // which region a call was made in
inline constexpr uint32_t kTimes = 1u << 31;    // set by the source itself
}  // namespace cuda_timer_flags

struct CudaTimedWork {
  uint64_t node = 0;  // of a graph; 0: of none
  uint64_t start_ns = 0, end_ns = 0;
  uint32_t stream = 0, correlation = 0;
};
struct CudaRegionOfCall {
  uint64_t region = 0;
  uint32_t correlation = 0, reserved = 0;
};
struct CudaTimes {
  const CudaTimedWork* works = nullptr;
  size_t work_count = 0;
  const CudaRegionOfCall* regions = nullptr;
  size_t region_count = 0;
  uint64_t dropped = 0;  // works and regions that had no room
};

struct CudaSource {
  Source source;  // "cuda"; its flags are cuda_source_flags
  uint32_t abi = kCudaSourceAbi;

  // Which CUPTI it is: path, "" where none was found; its API's version, 0: none.
  const char* (*cupti_path)() = nullptr;
  uint32_t (*cupti_version)() = nullptr;
  // A libcupti that a framework of this program would load. Has an effect before CUPTI is first asked for; the first of
  // several that loads is taken.
  void (*suggest_cupti)(const char* file) = nullptr;
  // Whether OPSCOPE_CUPTI_LIB names it: then its word counts, and not a framework's, whether there is a device.
  bool (*is_named)() = nullptr;
  // Tries to enable a kind and disables it again, where nobody uses CUPTI; "" or one line that says why CUDA cannot be
  // recorded. Copied into `why` (of `size` bytes).
  void (*why_not)(char* why, size_t size) = nullptr;
  // The same of a recording that runs: "" where it records.
  void (*why_not_recorded)(const void* session_window, char* why, size_t size) = nullptr;
  // That a profiler of torch has run in this process and is over: where CUPTI cannot be asked whether its holder
  // records, that one is taken for it.
  void (*tell_torch_profiled)(bool is_over) = nullptr;
  // From here on the making of graphs is watched, for kGraphEdges and kEventNodes; CUPTI is subscribed to until as many
  // calls with false. One line that says why it cannot be, else ""; then there is nothing to end.
  void (*watch_graphs)(bool is_on, char* why, size_t size) = nullptr;

  // An always-on timer of what devices do, beside any windows; null: `why` says why not. What has come since the last
  // drain lives until the next one; `flush`: what CUPTI has of it, too. stop waits for the device and frees the timer.
  void* (*start_timer)(uint32_t flags, char* why, size_t size) = nullptr;
  void (*drain_timer)(void* timer, bool flush, CudaTimes* times) = nullptr;
  void (*stop_timer)(void* timer) = nullptr;
  // From here on, until the pop, calls of this thread are made in a region of this number. False: CUPTI refuses.
  bool (*push_region)(uint64_t id) = nullptr;
  bool (*pop_region)(uint64_t* id) = nullptr;
};

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::CudaSource* opscope_cuda_source();
