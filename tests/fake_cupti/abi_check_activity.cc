// Every member of cupti_activity_records.h and of its later records lies where NVIDIA's header has it.
// SPDX-License-Identifier: Apache-2.0
#include "abi_check.h"

SAME_SIZE(Kernel9);
SAME_MEMBER(Kernel9, kind, kind);
SAME_MEMBER(Kernel9, cache_config, cacheConfig);
SAME_MEMBER(Kernel9, shared_memory_config, sharedMemoryConfig);
SAME_MEMBER(Kernel9, registers_per_thread, registersPerThread);
SAME_MEMBER(Kernel9, partitioned_global_cache_requested, partitionedGlobalCacheRequested);
SAME_MEMBER(Kernel9, partitioned_global_cache_executed, partitionedGlobalCacheExecuted);
SAME_MEMBER(Kernel9, start, start);
SAME_MEMBER(Kernel9, end, end);
SAME_MEMBER(Kernel9, completed, completed);
SAME_MEMBER(Kernel9, device, deviceId);
SAME_MEMBER(Kernel9, context, contextId);
SAME_MEMBER(Kernel9, stream, streamId);
SAME_MEMBER(Kernel9, grid_x, gridX);
SAME_MEMBER(Kernel9, grid_y, gridY);
SAME_MEMBER(Kernel9, grid_z, gridZ);
SAME_MEMBER(Kernel9, block_x, blockX);
SAME_MEMBER(Kernel9, block_y, blockY);
SAME_MEMBER(Kernel9, block_z, blockZ);
SAME_MEMBER(Kernel9, static_shared_memory, staticSharedMemory);
SAME_MEMBER(Kernel9, dynamic_shared_memory, dynamicSharedMemory);
SAME_MEMBER(Kernel9, local_memory_per_thread, localMemoryPerThread);
SAME_MEMBER(Kernel9, local_memory_total, localMemoryTotal);
SAME_MEMBER(Kernel9, correlation, correlationId);
SAME_MEMBER(Kernel9, grid_id, gridId);
SAME_MEMBER(Kernel9, name, name);
SAME_MEMBER(Kernel9, queued, queued);
SAME_MEMBER(Kernel9, submitted, submitted);
SAME_MEMBER(Kernel9, launch_type, launchType);
SAME_MEMBER(Kernel9, is_shared_memory_carveout_requested, isSharedMemoryCarveoutRequested);
SAME_MEMBER(Kernel9, shared_memory_carveout_requested, sharedMemoryCarveoutRequested);
SAME_MEMBER(Kernel9, shared_memory_executed, sharedMemoryExecuted);
SAME_MEMBER(Kernel9, graph_node_id, graphNodeId);
SAME_MEMBER(Kernel9, shared_memory_limit_config, shmemLimitConfig);
SAME_MEMBER(Kernel9, graph_id, graphId);
SAME_MEMBER(Kernel9, access_policy_window, pAccessPolicyWindow);
SAME_MEMBER(Kernel9, channel, channelID);
SAME_MEMBER(Kernel9, channel_type, channelType);
SAME_MEMBER(Kernel9, cluster_x, clusterX);
SAME_MEMBER(Kernel9, cluster_y, clusterY);
SAME_MEMBER(Kernel9, cluster_z, clusterZ);
SAME_MEMBER(Kernel9, cluster_scheduling_policy, clusterSchedulingPolicy);
SAME_MEMBER(Kernel9, local_memory_total_v2, localMemoryTotal_v2);
SAME_MEMBER(Kernel9, max_potential_cluster_size, maxPotentialClusterSize);
SAME_MEMBER(Kernel9, max_active_clusters, maxActiveClusters);

#if CUPTI_API_VERSION >= 130001
SAME_SIZE(Kernel10);
WRITTEN_SINCE(Kernel10, 130001);
SAME_MEMBER(Kernel10, is_device_launched, isDeviceLaunched);
#endif

#if CUPTI_API_VERSION >= 130101
SAME_SIZE(Kernel11);
WRITTEN_SINCE(Kernel11, 130101);
SAME_MEMBER(Kernel11, priority, priority);
#endif

#if CUPTI_API_VERSION >= 130301
SAME_SIZE(Kernel12);
WRITTEN_SINCE(Kernel12, 130301);
SAME_MEMBER(Kernel12, execution_model, executionModel);
#endif

#if CUPTI_API_VERSION >= 130401
SAME_SIZE(Kernel13);
WRITTEN_SINCE(Kernel13, 130401);
SAME_MEMBER(Kernel13, source_graph_id, sourceGraphId);
SAME_MEMBER(Kernel13, source_graph_node_id, sourceGraphNodeId);
#endif

SAME_SIZE(Memcpy5);
SAME_MEMBER(Memcpy5, kind, kind);
SAME_MEMBER(Memcpy5, copy_kind, copyKind);
SAME_MEMBER(Memcpy5, source_kind, srcKind);
SAME_MEMBER(Memcpy5, destination_kind, dstKind);
SAME_MEMBER(Memcpy5, flags, flags);
SAME_MEMBER(Memcpy5, bytes, bytes);
SAME_MEMBER(Memcpy5, start, start);
SAME_MEMBER(Memcpy5, end, end);
SAME_MEMBER(Memcpy5, device, deviceId);
SAME_MEMBER(Memcpy5, context, contextId);
SAME_MEMBER(Memcpy5, stream, streamId);
SAME_MEMBER(Memcpy5, correlation, correlationId);
SAME_MEMBER(Memcpy5, runtime_correlation, runtimeCorrelationId);
SAME_MEMBER(Memcpy5, graph_node_id, graphNodeId);
SAME_MEMBER(Memcpy5, graph_id, graphId);
SAME_MEMBER(Memcpy5, channel, channelID);
SAME_MEMBER(Memcpy5, channel_type, channelType);

#if CUPTI_API_VERSION >= 26
SAME_SIZE(Memcpy6);
WRITTEN_SINCE(Memcpy6, 26);
SAME_MEMBER(Memcpy6, copy_count, copyCount);
#if CUPTI_API_VERSION >= 130001
SAME_MEMBER(Memcpy6, first.is_device_launched, isDeviceLaunched);
#endif
#endif

#if CUPTI_API_VERSION >= 130401
SAME_SIZE(Memcpy7);
WRITTEN_SINCE(Memcpy7, 130401);
SAME_MEMBER(Memcpy7, source_graph_id, sourceGraphId);
SAME_MEMBER(Memcpy7, source_graph_node_id, sourceGraphNodeId);
#endif

SAME_SIZE(MemcpyPtoP4);
SAME_MEMBER(MemcpyPtoP4, kind, kind);
SAME_MEMBER(MemcpyPtoP4, copy_kind, copyKind);
SAME_MEMBER(MemcpyPtoP4, source_kind, srcKind);
SAME_MEMBER(MemcpyPtoP4, destination_kind, dstKind);
SAME_MEMBER(MemcpyPtoP4, flags, flags);
SAME_MEMBER(MemcpyPtoP4, bytes, bytes);
SAME_MEMBER(MemcpyPtoP4, start, start);
SAME_MEMBER(MemcpyPtoP4, end, end);
SAME_MEMBER(MemcpyPtoP4, device, deviceId);
SAME_MEMBER(MemcpyPtoP4, context, contextId);
SAME_MEMBER(MemcpyPtoP4, stream, streamId);
SAME_MEMBER(MemcpyPtoP4, source_device, srcDeviceId);
SAME_MEMBER(MemcpyPtoP4, source_context, srcContextId);
SAME_MEMBER(MemcpyPtoP4, destination_device, dstDeviceId);
SAME_MEMBER(MemcpyPtoP4, destination_context, dstContextId);
SAME_MEMBER(MemcpyPtoP4, correlation, correlationId);
SAME_MEMBER(MemcpyPtoP4, graph_node_id, graphNodeId);
SAME_MEMBER(MemcpyPtoP4, graph_id, graphId);
SAME_MEMBER(MemcpyPtoP4, channel, channelID);
SAME_MEMBER(MemcpyPtoP4, channel_type, channelType);

SAME_SIZE(Memset4);
SAME_MEMBER(Memset4, kind, kind);
SAME_MEMBER(Memset4, value, value);
SAME_MEMBER(Memset4, bytes, bytes);
SAME_MEMBER(Memset4, start, start);
SAME_MEMBER(Memset4, end, end);
SAME_MEMBER(Memset4, device, deviceId);
SAME_MEMBER(Memset4, context, contextId);
SAME_MEMBER(Memset4, stream, streamId);
SAME_MEMBER(Memset4, correlation, correlationId);
SAME_MEMBER(Memset4, flags, flags);
SAME_MEMBER(Memset4, memory_kind, memoryKind);
SAME_MEMBER(Memset4, graph_node_id, graphNodeId);
SAME_MEMBER(Memset4, graph_id, graphId);
SAME_MEMBER(Memset4, channel, channelID);
SAME_MEMBER(Memset4, channel_type, channelType);
#if CUPTI_API_VERSION >= 130001
SAME_MEMBER(Memset4, is_device_launched, isDeviceLaunched);
#endif

#if CUPTI_API_VERSION >= 130401
SAME_SIZE(Memset5);
WRITTEN_SINCE(Memset5, 130401);
SAME_MEMBER(Memset5, source_graph_id, sourceGraphId);
SAME_MEMBER(Memset5, source_graph_node_id, sourceGraphNodeId);
#endif

#if CUPTI_API_VERSION >= 130100
SAME_SIZE(GraphHostNode);
WRITTEN_SINCE(GraphHostNode, 130100);
SAME_MEMBER(GraphHostNode, kind, kind);
SAME_MEMBER(GraphHostNode, stream, streamId);
SAME_MEMBER(GraphHostNode, context, contextId);
SAME_MEMBER(GraphHostNode, device, deviceId);
SAME_MEMBER(GraphHostNode, correlation, correlationId);
SAME_MEMBER(GraphHostNode, graph_id, graphId);
SAME_MEMBER(GraphHostNode, graph_node_id, graphNodeId);
SAME_MEMBER(GraphHostNode, process, processId);
SAME_MEMBER(GraphHostNode, thread, threadId);
SAME_MEMBER(GraphHostNode, start, start);
SAME_MEMBER(GraphHostNode, end, end);
#endif

SAME_SIZE(Api);
SAME_MEMBER(Api, kind, kind);
SAME_MEMBER(Api, cbid, cbid);
SAME_MEMBER(Api, start, start);
SAME_MEMBER(Api, end, end);
SAME_MEMBER(Api, process, processId);
SAME_MEMBER(Api, thread, threadId);
SAME_MEMBER(Api, correlation, correlationId);
SAME_MEMBER(Api, return_value, returnValue);

SAME_SIZE(ExternalCorrelation);
SAME_MEMBER(ExternalCorrelation, kind, kind);
SAME_MEMBER(ExternalCorrelation, external_kind, externalKind);
SAME_MEMBER(ExternalCorrelation, external_id, externalId);
SAME_MEMBER(ExternalCorrelation, correlation, correlationId);

SAME_SIZE(Overhead);
SAME_MEMBER(Overhead, kind, kind);
SAME_MEMBER(Overhead, overhead_kind, overheadKind);
SAME_MEMBER(Overhead, object_kind, objectKind);
SAME_MEMBER(Overhead, object, objectId);
SAME_MEMBER(Overhead, start, start);
SAME_MEMBER(Overhead, end, end);

#if CUPTI_API_VERSION >= 21
SAME_SIZE(Overhead2);
WRITTEN_SINCE(Overhead2, 21);
SAME_MEMBER(Overhead2, correlation, correlationId);
#endif

#if CUPTI_API_VERSION >= 22
SAME_SIZE(Overhead3);
WRITTEN_SINCE(Overhead3, 22);
SAME_MEMBER(Overhead3, overhead_data, overheadData);
#endif

SAME_SIZE(Synchronization);
SAME_MEMBER(Synchronization, kind, kind);
SAME_MEMBER(Synchronization, type, type);
SAME_MEMBER(Synchronization, start, start);
SAME_MEMBER(Synchronization, end, end);
SAME_MEMBER(Synchronization, correlation, correlationId);
SAME_MEMBER(Synchronization, context, contextId);
SAME_MEMBER(Synchronization, stream, streamId);
SAME_MEMBER(Synchronization, event, cudaEventId);

#if CUPTI_API_VERSION >= 26
SAME_SIZE(Synchronization2);
WRITTEN_SINCE(Synchronization2, 26);
SAME_MEMBER(Synchronization2, event_sync_id, cudaEventSyncId);
SAME_MEMBER(Synchronization2, return_value, returnValue);
#endif

SAME_SIZE(CudaEvent);
SAME_MEMBER(CudaEvent, kind, kind);
SAME_MEMBER(CudaEvent, correlation, correlationId);
SAME_MEMBER(CudaEvent, context, contextId);
SAME_MEMBER(CudaEvent, stream, streamId);
SAME_MEMBER(CudaEvent, event, eventId);

#if CUPTI_API_VERSION >= 26
SAME_SIZE(CudaEvent2);
WRITTEN_SINCE(CudaEvent2, 26);
SAME_MEMBER(CudaEvent2, device, deviceId);
SAME_MEMBER(CudaEvent2, device_timestamp, deviceTimestamp);
SAME_MEMBER(CudaEvent2, event_sync_id, cudaEventSyncId);
#endif

#if CUPTI_API_VERSION >= 130500
SAME_SIZE(CudaEvent3);
WRITTEN_SINCE(CudaEvent3, 130500);
SAME_MEMBER(CudaEvent3, graph_node_id, graphNodeId);
SAME_MEMBER(CudaEvent3, graph_id, graphId);
SAME_MEMBER(CudaEvent3, source_graph_id, sourceGraphId);
SAME_MEMBER(CudaEvent3, source_graph_node_id, sourceGraphNodeId);
#endif
