// CUPTI's activity records of resources: devices, contexts, streams, memory, names, the device's clocks, and graphs as
// a whole. cupti_abi.h explains the declarations.
//
// Times are ns of CUPTI's clock. Sizes are bytes unless a comment says otherwise.
//
// Thread rule: types and constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "sources/cuda/cupti_activity_records.h"
#include "sources/cuda/cupti_enums.h"

namespace opscope::cuda::cupti {

// kDevice.
struct Device4 {
  ActivityKind kind;
  std::uint32_t flags;
  std::uint64_t global_memory_bandwidth;  // kB/s
  std::uint64_t global_memory_size;
  std::uint32_t constant_memory_size;
  std::uint32_t l2_cache_size;
  std::uint32_t threads_per_warp;
  std::uint32_t core_clock_rate;  // kHz
  std::uint32_t memcpy_engines;
  std::uint32_t multiprocessors;
  std::uint32_t max_instructions_per_cycle;
  std::uint32_t max_warps_per_multiprocessor;
  std::uint32_t max_blocks_per_multiprocessor;
  std::uint32_t max_shared_memory_per_multiprocessor;
  std::uint32_t max_registers_per_multiprocessor;
  std::uint32_t max_registers_per_block;
  std::uint32_t max_shared_memory_per_block;
  std::uint32_t max_threads_per_block;
  std::uint32_t max_block_x;
  std::uint32_t max_block_y;
  std::uint32_t max_block_z;
  std::uint32_t max_grid_x;
  std::uint32_t max_grid_y;
  std::uint32_t max_grid_z;
  std::uint32_t compute_capability_major;
  std::uint32_t compute_capability_minor;
  std::uint32_t id;
  std::uint32_t ecc_enabled;
  std::uint8_t uuid[16];
  const char* name;
  std::uint8_t is_cuda_visible;
  std::uint8_t is_mig_enabled;
  std::uint8_t reserved[6];
  std::uint32_t gpu_instance;
  std::uint32_t compute_instance;
  std::uint8_t mig_uuid[16];
};

// kContext.
struct Context {
  ActivityKind kind;
  std::uint32_t context;
  std::uint32_t device;
  std::uint16_t compute_api;
  std::uint16_t null_stream;  // which id the stream 0 has in the other records
};

// kStream.
struct Stream {
  ActivityKind kind;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t priority;
  StreamFlag flag;
  std::uint32_t correlation;
};

// kGraphTrace: a launch of a graph as a whole, in place of its nodes.
struct GraphTrace {
  ActivityKind kind;
  std::uint32_t correlation;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t graph;
  std::uint32_t context;
  std::uint32_t stream;
  void* reserved;
};

// kMemory2: cudaMalloc, cudaFree and their kin.
struct Memory3 {
  ActivityKind kind;
  MemoryOperation operation;
  MemoryKind memory_kind;
  std::uint32_t correlation;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t timestamp;
  std::uint64_t pc;
  std::uint32_t process;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  const char* name;
  std::uint32_t is_async;
  std::uint32_t padding;
  struct Pool {
    MemoryPoolType type;
    std::uint32_t padding;
    std::uint64_t address;
    std::uint64_t release_threshold;
    std::uint64_t size_or_process;  // the size of a local pool, the process of an imported one
    std::uint64_t utilized_size;
  } pool;
};

// kName: of a thread, a stream, ..., given by its owner.
struct Name {
  ActivityKind kind;
  ObjectKind object_kind;
  ObjectId object;
  std::uint32_t padding;
  const char* name;
};

// kEnvironment: one of the device's sensors at one time.
struct Environment {
  ActivityKind kind;
  std::uint32_t device;
  std::uint64_t timestamp;
  EnvironmentKind environment_kind;
  union {
    struct {
      std::uint32_t sm_clock;      // MHz
      std::uint32_t memory_clock;  // MHz
      std::uint32_t pcie_link_generation;
      std::uint32_t pcie_link_width;
      std::uint32_t throttle_reasons;
    } speed;
    std::uint32_t temperature;  // degrees Celsius
    struct {
      std::uint32_t power;  // mW
      std::uint32_t limit;  // mW
    } power;
    std::uint32_t fan_speed;  // percent
  };
};

}  // namespace opscope::cuda::cupti
