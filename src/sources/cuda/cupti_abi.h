// CUPTI's C interface in declarations of our own: no CUDA header is needed to build, and one binary works with
// CUPTI 12.1 and all later ones.
//
// The number in the name of a struct is CUPTI's own (`Kernel9` is CUpti_ActivityKernel9). A newer CUPTI may append
// members to a record. Records have no length, so a reader moves from record to record with the library's
// ActivityGetNextRecord and reads a prefix of each: always the struct of 12.1, and a later struct, whose member `first`
// is the earlier one, if the library is new enough. `kSince` is the first API version (GetVersion) whose libraries
// write a struct; if the exact version is unknown, the first one that was tried. Later structs of which opscope reads
// no member are in tests/fake_cupti/later_records.h. Functions have CUPTI's names without "cupti": `ActivityEnable` is
// cuptiActivityEnable.
//
// tests/fake_cupti/abi_check_*.cc compare every offset, size, value and signature with NVIDIA's headers.
//
// Thread rule: types and constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "sources/cuda/cupti_activity_records.h"
#include "sources/cuda/cupti_enums.h"
#include "sources/cuda/cupti_resource_records.h"

namespace opscope::cuda::cupti {

// Opaque handles of CUDA and CUPTI.
using CudaContext = struct CUctx_st*;
using Graph = struct CUgraph_st*;
using GraphNode = struct CUgraphNode_st*;
using GraphExec = struct CUgraphExec_st*;
using Subscriber = struct CUpti_Subscriber_st*;

// Results of GetVersion: 18 in CUPTI 12.1, 28 in 12.9, 130001 in 13.0.
inline constexpr std::uint32_t kOldestApi = 18;
inline constexpr std::uint32_t kDeclinesBuffersSince = 27;  // before, a null buffer crashes the library

// The data of a callback about a resource; `descriptor` is a GraphData for a graph or a node.
struct ResourceData {
  CudaContext context;
  void* handle;
  void* descriptor;
};
struct GraphData {
  Graph graph;
  Graph original_graph;
  GraphNode node;
  GraphNode original_node;  // from which `node` was cloned
  GraphNodeType node_type;
  GraphNode dependency;  // that `node` waits for, as seen on a device; CUPTI's header calls it "the dependent node"
  GraphExec exec;
};

// Parameters of Subscribe_v2. The last two members exist from 130202 on; `struct_size` is the size in bytes.
struct SubscriberParams {
  std::size_t struct_size;
  const char* subscriber_name;  // at most 52 characters
  char* old_subscriber_name;    // filled when another subscriber has CUPTI; at least 64 bytes, or null
  std::size_t old_subscriber_size;
  std::uint8_t allow_multiple_subscribers;
  std::uint8_t padding[7];
};

using CallbackFunction = void (*)(void* user_data, CallbackDomain, std::uint32_t cbid, const void* data);
// A null buffer declines. `max_records` 0: as many as fit.
using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
// `context` is null and `stream` is 0: buffers do not belong to streams any more.
using BufferCompleted = void (*)(CudaContext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                 std::size_t valid_size);

// Functions without which CUPTI cannot be used.
using GetVersion = Result (*)(std::uint32_t* version);
using GetResultString = Result (*)(Result, const char** name);
using ActivityRegisterCallbacks = Result (*)(BufferRequested, BufferCompleted);
using ActivityEnable = Result (*)(ActivityKind);
using ActivityDisable = Result (*)(ActivityKind);
using ActivityFlushAll = Result (*)(std::uint32_t flag);
// Moves *record to the next record, or from null to the first. kMaxLimitReached: there are no more records.
using ActivityGetNextRecord = Result (*)(std::uint8_t* buffer, std::size_t valid_size, Activity** record);
// Records that CUPTI dropped since the last call.
using ActivityGetNumDroppedRecords = Result (*)(CudaContext, std::uint32_t stream, std::size_t* dropped);

// Optional functions.
using Subscribe = Result (*)(Subscriber*, CallbackFunction, void* user_data);
using Subscribe_v2 = Result (*)(Subscriber*, CallbackFunction, void* user_data, SubscriberParams*);  // from 130001 on
using Unsubscribe = Result (*)(Subscriber);
using GetTimestamp = Result (*)(std::uint64_t* timestamp);
using GetCallbackName = Result (*)(CallbackDomain, std::uint32_t cbid, const char** name);
using SetThreadIdType = Result (*)(ThreadIdType);
using ActivityEnableAndDump = Result (*)(ActivityKind);
using ActivityPushExternalCorrelationId = Result (*)(ExternalCorrelationKind, std::uint64_t id);
using ActivityPopExternalCorrelationId = Result (*)(ExternalCorrelationKind, std::uint64_t* last_id);
using ActivityEnableCudaEventDeviceTimestamps = Result (*)(std::uint8_t enable);  // from 130001 on
// The enabled kinds of one subscriber; of all subscribers if it is null. From 130202 on.
using ActivityGetEnabledKinds = Result (*)(Subscriber, ActivityKind* kinds, std::uint32_t* size, std::uint32_t* count);

// Optional; called only for a window or a timer with nodes of graphs.
using EnableCallback = Result (*)(std::uint32_t enable, Subscriber, CallbackDomain, std::uint32_t cbid);
using GetGraphNodeId = Result (*)(GraphNode, std::uint64_t* id);
using GetGraphId = Result (*)(Graph, std::uint32_t* id);
using GetGraphExecId = Result (*)(GraphExec, std::uint32_t* id);

}  // namespace opscope::cuda::cupti
