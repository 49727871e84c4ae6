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

inline constexpr uint32_t kCudaSourceAbi = 2;

namespace cuda_source_flags {
inline constexpr uint32_t kSynchronization = 1;  // waits for streams and events, and records of events
inline constexpr uint32_t kMemory = 2;           // cudaMalloc, cudaFree and the like
inline constexpr uint32_t kGraphs = 4;           // graphs as a whole, in place of their nodes
inline constexpr uint32_t kEnvironment = 8;      // power, temperature, clocks and fan, as CUPTI samples them
inline constexpr uint32_t kGraphEdges = 16;      // what nodes of graphs wait for, of graphs that were watched
inline constexpr uint32_t kEventNodes = 32;      // when nodes of graphs recorded events, likewise
}  // namespace cuda_source_flags

struct CudaSource {
  Source source;  // "cuda"; its flags are cuda_source_flags
  uint32_t abi = kCudaSourceAbi;

  // Which CUPTI it is: path, "" where none was found; its API's version, 0: none.
  const char* (*cupti_path)() = nullptr;
  uint32_t (*cupti_version)() = nullptr;
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
};

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::CudaSource* opscope_cuda_source();
