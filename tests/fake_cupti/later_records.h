// Activity records of CUPTI later than 12.1 of whose members opscope reads none. Only the simulated library writes them,
// because a profiler that assumes the wrong size of a record reads garbage from the second record on. cupti_abi.h
// explains `first` and `kSince`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sources/cuda/cupti_abi.h"

namespace opscope::cuda::cupti {

struct Kernel10 {
  static constexpr std::uint32_t kSince = 130001;
  Kernel9 first;
  std::uint8_t is_device_launched;
  std::uint8_t padding[7];
};
struct Kernel11 {
  static constexpr std::uint32_t kSince = 130101;
  Kernel10 first;
  std::int32_t priority;
  std::uint32_t padding;
};
struct Kernel12 {
  static constexpr std::uint32_t kSince = 130301;
  Kernel11 first;
  std::uint32_t execution_model;
  std::uint32_t padding;
};
struct Kernel13 {
  static constexpr std::uint32_t kSince = 130401;
  Kernel12 first;
  std::uint32_t source_graph_id;
  std::uint32_t padding;
  std::uint64_t source_graph_node_id;
};

struct Memcpy6 {
  static constexpr std::uint32_t kSince = 26;
  Memcpy5 first;
  std::uint64_t copy_count;
};
struct Memcpy7 {
  static constexpr std::uint32_t kSince = 130401;
  Memcpy6 first;
  std::uint32_t source_graph_id;
  std::uint32_t padding;
  std::uint64_t source_graph_node_id;
};

struct Memset5 {
  static constexpr std::uint32_t kSince = 130401;
  Memset4 first;
  std::uint32_t source_graph_id;
  std::uint32_t padding;
  std::uint64_t source_graph_node_id;
};

struct Overhead3 {
  static constexpr std::uint32_t kSince = 22;
  Overhead2 first;
  void* overhead_data;
};

struct CudaEvent3 {
  static constexpr std::uint32_t kSince = 130500;
  CudaEvent2 first;
  std::uint64_t graph_node_id;
  std::uint32_t graph_id;
  std::uint32_t source_graph_id;
  std::uint64_t source_graph_node_id;
};

struct Device5 {
  static constexpr std::uint32_t kSince = 20;
  Device4 first;
  std::uint32_t is_numa_node;
  std::uint32_t numa_id;
};
struct Device6 {
  static constexpr std::uint32_t kSince = 130202;
  Device5 first;
  std::uint32_t tpcs;
  std::uint32_t reserved;
};

struct Context2 {
  static constexpr std::uint32_t kSince = 22;
  Context first;
  std::uint32_t parent_context;
  std::uint8_t is_green_context;
  std::uint8_t padding;
  std::uint16_t multiprocessors;  // of a green context; from 24 on
};
struct Context3 {
  static constexpr std::uint32_t kSince = 24;
  Context2 first;
  std::uint32_t cig_mode;
  std::uint32_t padding;
};
struct Context4 {
  static constexpr std::uint32_t kSince = 130101;
  Context3 first;
  std::uint64_t process;
};

struct GraphTrace2 {
  static constexpr std::uint32_t kSince = 21;
  GraphTrace first;
  std::uint32_t end_device;
  std::uint32_t end_context;
};

struct Memory4 {
  static constexpr std::uint32_t kSince = 24;
  Memory3 first;
  const char* source;  // the library that asked for the memory, or null
};

}  // namespace opscope::cuda::cupti
