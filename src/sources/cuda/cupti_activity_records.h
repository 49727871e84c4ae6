// CUPTI's activity records of work: kernels, copies, calls, synchronisation. cupti_abi.h explains the declarations.
//
// Times are ns of CUPTI's clock; 0: unknown. Sizes are bytes.
//
// Thread rule: types and constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "sources/cuda/cupti_enums.h"

namespace opscope::cuda::cupti {

// The first member of every record.
struct Activity {
  ActivityKind kind;
};

// kConcurrentKernel, kKernel.
struct Kernel9 {
  ActivityKind kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t partitioned_global_cache_requested;
  std::uint32_t partitioned_global_cache_executed;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t grid_x;
  std::int32_t grid_y;
  std::int32_t grid_z;
  std::int32_t block_x;
  std::int32_t block_y;
  std::int32_t block_z;
  std::int32_t static_shared_memory;
  std::int32_t dynamic_shared_memory;
  std::uint32_t local_memory_per_thread;
  std::uint32_t local_memory_total;
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;  // mangled; valid as long as its module is loaded
  void* reserved;
  std::uint64_t queued;  // 0 without latency timestamps
  std::uint64_t submitted;
  LaunchType launch_type;
  std::uint8_t is_shared_memory_carveout_requested;
  std::uint8_t shared_memory_carveout_requested;
  std::uint8_t padding;
  std::uint32_t shared_memory_executed;
  std::uint64_t graph_node_id;  // 0: not launched by a graph
  std::uint32_t shared_memory_limit_config;
  std::uint32_t graph_id;
  void* access_policy_window;
  std::uint32_t channel;
  ChannelType channel_type;
  std::uint32_t cluster_x;
  std::uint32_t cluster_y;
  std::uint32_t cluster_z;
  std::uint32_t cluster_scheduling_policy;
  std::uint64_t local_memory_total_v2;
  std::uint32_t max_potential_cluster_size;
  std::uint32_t max_active_clusters;
};

// kMemcpy.
struct Memcpy5 {
  ActivityKind kind;
  MemcpyKind copy_kind;
  std::uint8_t source_kind;       // MemoryKind
  std::uint8_t destination_kind;  // MemoryKind
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t runtime_correlation;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node_id;
  std::uint32_t graph_id;
  std::uint32_t channel;
  ChannelType channel_type;
  std::uint8_t is_device_launched;  // from 130001 on; padding before
  std::uint8_t padding2[3];
};

// kMemcpy2: between devices.
struct MemcpyPtoP4 {
  ActivityKind kind;
  MemcpyKind copy_kind;
  std::uint8_t source_kind;       // MemoryKind
  std::uint8_t destination_kind;  // MemoryKind
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t source_device;
  std::uint32_t source_context;
  std::uint32_t destination_device;
  std::uint32_t destination_context;
  std::uint32_t correlation;
  void* reserved;
  std::uint64_t graph_node_id;
  std::uint32_t graph_id;
  std::uint32_t channel;
  ChannelType channel_type;
};

// kMemset.
struct Memset4 {
  ActivityKind kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint16_t flags;
  std::uint16_t memory_kind;  // MemoryKind
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node_id;
  std::uint32_t graph_id;
  std::uint32_t channel;
  ChannelType channel_type;
  std::uint8_t is_device_launched;  // from 130001 on; padding before
  std::uint8_t padding2[3];
};

// kGraphHostNode: a function of the program that a node of a graph calls on the CPU, while the stream waits for it.
struct GraphHostNode {
  static constexpr std::uint32_t kSince = 130100;
  ActivityKind kind;
  std::uint32_t stream;
  std::uint32_t context;
  std::uint32_t device;       // of the context
  std::uint32_t correlation;  // 0 where the launch was queued behind an earlier one that still ran
  std::uint32_t graph_id;
  std::uint64_t graph_node_id;
  std::uint32_t process;
  std::uint32_t thread;  // that ran it
  std::uint64_t start;
  std::uint64_t end;
};

// kRuntime, kDriver, kInternalLaunchApi.
struct Api {
  ActivityKind kind;
  std::uint32_t cbid;  // `CallbackId` of its domain; cuptiGetCallbackName names it
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t correlation;
  std::uint32_t return_value;
};

// Comes before the kRuntime or kDriver record of the same correlation.
struct ExternalCorrelation {
  ActivityKind kind;
  ExternalCorrelationKind external_kind;
  std::uint64_t external_id;
  std::uint32_t correlation;
  std::uint32_t reserved;
};

// What an overhead or a name belongs to: process and thread; or device, context and stream.
struct ObjectId {
  std::uint32_t process_or_device;
  std::uint32_t thread_or_context;
  std::uint32_t stream;
};

struct Overhead {
  ActivityKind kind;
  OverheadKind overhead_kind;
  ObjectKind object_kind;
  ObjectId object;
  std::uint64_t start;
  std::uint64_t end;
};
struct Overhead2 {
  static constexpr std::uint32_t kSince = 21;
  Overhead first;
  std::uint32_t correlation;
  std::uint32_t reserved;
};

struct Synchronization {
  ActivityKind kind;
  SyncType type;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;  // or kNoStream
  std::uint32_t event;   // or kNoEvent
};
struct Synchronization2 {
  static constexpr std::uint32_t kSince = 26;
  Synchronization first;
  std::uint64_t event_sync_id;
  std::uint32_t return_value;
  std::uint32_t padding;
};

struct CudaEvent {
  ActivityKind kind;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
  std::uint32_t padding;
};
struct CudaEvent2 {
  static constexpr std::uint32_t kSince = 26;
  CudaEvent first;
  std::uint32_t device;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t device_timestamp;  // 0 unless cuptiActivityEnableCudaEventDeviceTimestamps
  std::uint64_t event_sync_id;
};

}  // namespace opscope::cuda::cupti
