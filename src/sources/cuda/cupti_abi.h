// CUPTI's C interface in declarations of our own: no CUDA header is needed to build, and one binary works with
// CUPTI 12.1 and all later ones.
//
// A record's number is CUPTI's own (`Kernel9` is CUpti_ActivityKernel9). CUPTI lets a record grow at its end alone, and
// no record has a length, so that a reader goes from record to record by the library's own walker
// (ActivityGetNextRecord) and reads each by prefix: the struct of 12.1 always, as the member `first` of a later one
// where the library is new enough; `kSince` is the first API version (GetVersion; the first that we have seen, where it
// lies between two) of the libraries that write it. The names of functions are CUPTI's without "cupti":
// `ActivityEnable` is what dlsym finds as cuptiActivityEnable.
//
// tests/fake_cupti/abi_check.cc compares every offset, size, value and signature with NVIDIA's headers.
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

// Handles of CUDA and CUPTI: never looked into.
using CudaContext = struct CUctx_st*;
using Graph = struct CUgraph_st*;
using GraphNode = struct CUgraphNode_st*;
using GraphExec = struct CUgraphExec_st*;
using Subscriber = struct CUpti_Subscriber_st*;

// What GetVersion says: 18 in 12.1, 28 in 12.9, 130001 in 13.0.
inline constexpr std::uint32_t kOldestApi = 18;
inline constexpr std::uint32_t kDeclinesBuffersSince = 27;  // before, a null buffer crashes the library

// The data of a callback at the begin and the end of a call of the runtime or driver API.
struct CallbackData {
  std::uint32_t site;  // 0 at the begin, 1 at the end
  const char* function_name;
  const void* parameters;
  void* return_value;
  const char* symbol_name;
  CudaContext context;
  std::uint32_t context_id;
  std::uint64_t* correlation_data;
  std::uint32_t correlation;
};

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
  GraphNode original_node;  // that `node` was cloned from
  GraphNodeType node_type;
  GraphNode dependency;  // that `node` waits for, as seen on a device; CUPTI's header calls it "the dependent node"
  GraphExec exec;
};

// Of Subscribe_v2. The last two members are there from 130202 on: `struct_size` says how many are.
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
// `context` is null and `stream` 0: buffers belong to no stream any more.
using BufferCompleted = void (*)(CudaContext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                 std::size_t valid_size);
using TimestampCallback = std::uint64_t (*)();

// Needed.
using GetVersion = Result (*)(std::uint32_t* version);
using GetResultString = Result (*)(Result, const char** name);
using ActivityRegisterCallbacks = Result (*)(BufferRequested, BufferCompleted);
using ActivityEnable = Result (*)(ActivityKind);
using ActivityDisable = Result (*)(ActivityKind);
using ActivityFlushAll = Result (*)(std::uint32_t flag);
// kMaxLimitReached after the last record; `record` null asks for the first.
using ActivityGetNextRecord = Result (*)(std::uint8_t* buffer, std::size_t valid_size, Activity** record);
// Since the last call.
using ActivityGetNumDroppedRecords = Result (*)(CudaContext, std::uint32_t stream, std::size_t* dropped);

// Used where they are.
using Subscribe = Result (*)(Subscriber*, CallbackFunction, void* user_data);
using Subscribe_v2 = Result (*)(Subscriber*, CallbackFunction, void* user_data, SubscriberParams*);  // from 130001 on
using Unsubscribe = Result (*)(Subscriber);
using GetTimestamp = Result (*)(std::uint64_t* timestamp);
using GetCallbackName = Result (*)(CallbackDomain, std::uint32_t cbid, const char** name);
using SetThreadIdType = Result (*)(ThreadIdType);
using ActivityGetAttribute = Result (*)(Attribute, std::size_t* size, void* value);
using ActivitySetAttribute = Result (*)(Attribute, std::size_t* size, void* value);
using ActivityEnableAndDump = Result (*)(ActivityKind);
using ActivityPushExternalCorrelationId = Result (*)(ExternalCorrelationKind, std::uint64_t id);
using ActivityPopExternalCorrelationId = Result (*)(ExternalCorrelationKind, std::uint64_t* last_id);
using ActivityEnableRuntimeApi = Result (*)(std::uint32_t cbid, std::uint8_t enable);  // from 24 on
using ActivityEnableDriverApi = Result (*)(std::uint32_t cbid, std::uint8_t enable);   // from 24 on
using ActivityRegisterTimestampCallback = Result (*)(TimestampCallback);
using ActivityEnableCudaEventDeviceTimestamps = Result (*)(std::uint8_t enable);  // from 130001 on
using ActivityFlushPeriod = Result (*)(std::uint32_t milliseconds);
// Of one subscriber, or with null of all. From 130202 on.
using ActivityGetEnabledKinds = Result (*)(Subscriber, ActivityKind* kinds, std::uint32_t* size, std::uint32_t* count);

// Used where a window or a timer wants the nodes of graphs.
using EnableCallback = Result (*)(std::uint32_t enable, Subscriber, CallbackDomain, std::uint32_t cbid);
using GetGraphNodeId = Result (*)(GraphNode, std::uint64_t* id);
using GetGraphId = Result (*)(Graph, std::uint32_t* id);
using GetGraphExecId = Result (*)(GraphExec, std::uint32_t* id);

}  // namespace opscope::cuda::cupti
