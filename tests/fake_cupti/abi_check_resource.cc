// Every member of cupti_resource_records.h and of its later records lies where NVIDIA's header has it.
// SPDX-License-Identifier: Apache-2.0
#include "abi_check.h"

SAME_SIZE(Device4);
SAME_MEMBER(Device4, kind, kind);
SAME_MEMBER(Device4, flags, flags);
SAME_MEMBER(Device4, global_memory_bandwidth, globalMemoryBandwidth);
SAME_MEMBER(Device4, global_memory_size, globalMemorySize);
SAME_MEMBER(Device4, constant_memory_size, constantMemorySize);
SAME_MEMBER(Device4, l2_cache_size, l2CacheSize);
SAME_MEMBER(Device4, threads_per_warp, numThreadsPerWarp);
SAME_MEMBER(Device4, core_clock_rate, coreClockRate);
SAME_MEMBER(Device4, memcpy_engines, numMemcpyEngines);
SAME_MEMBER(Device4, multiprocessors, numMultiprocessors);
SAME_MEMBER(Device4, max_instructions_per_cycle, maxIPC);
SAME_MEMBER(Device4, max_warps_per_multiprocessor, maxWarpsPerMultiprocessor);
SAME_MEMBER(Device4, max_blocks_per_multiprocessor, maxBlocksPerMultiprocessor);
SAME_MEMBER(Device4, max_shared_memory_per_multiprocessor, maxSharedMemoryPerMultiprocessor);
SAME_MEMBER(Device4, max_registers_per_multiprocessor, maxRegistersPerMultiprocessor);
SAME_MEMBER(Device4, max_registers_per_block, maxRegistersPerBlock);
SAME_MEMBER(Device4, max_shared_memory_per_block, maxSharedMemoryPerBlock);
SAME_MEMBER(Device4, max_threads_per_block, maxThreadsPerBlock);
SAME_MEMBER(Device4, max_block_x, maxBlockDimX);
SAME_MEMBER(Device4, max_block_y, maxBlockDimY);
SAME_MEMBER(Device4, max_block_z, maxBlockDimZ);
SAME_MEMBER(Device4, max_grid_x, maxGridDimX);
SAME_MEMBER(Device4, max_grid_y, maxGridDimY);
SAME_MEMBER(Device4, max_grid_z, maxGridDimZ);
SAME_MEMBER(Device4, compute_capability_major, computeCapabilityMajor);
SAME_MEMBER(Device4, compute_capability_minor, computeCapabilityMinor);
SAME_MEMBER(Device4, id, id);
SAME_MEMBER(Device4, ecc_enabled, eccEnabled);
SAME_MEMBER(Device4, uuid, uuid);
SAME_MEMBER(Device4, name, name);
SAME_MEMBER(Device4, is_cuda_visible, isCudaVisible);
SAME_MEMBER(Device4, is_mig_enabled, isMigEnabled);
SAME_MEMBER(Device4, gpu_instance, gpuInstanceId);
SAME_MEMBER(Device4, compute_instance, computeInstanceId);
SAME_MEMBER(Device4, mig_uuid, migUuid);

#if CUPTI_API_VERSION >= 20
SAME_SIZE(Device5);
WRITTEN_SINCE(Device5, 20);
SAME_MEMBER(Device5, is_numa_node, isNumaNode);
SAME_MEMBER(Device5, numa_id, numaId);
#endif

#if CUPTI_API_VERSION >= 130202
SAME_SIZE(Device6);
WRITTEN_SINCE(Device6, 130202);
SAME_MEMBER(Device6, tpcs, numTpcs);
#endif

SAME_SIZE(Context);
SAME_MEMBER(Context, kind, kind);
SAME_MEMBER(Context, context, contextId);
SAME_MEMBER(Context, device, deviceId);
SAME_MEMBER(Context, compute_api, computeApiKind);
SAME_MEMBER(Context, null_stream, nullStreamId);

#if CUPTI_API_VERSION >= 22
SAME_SIZE(Context2);
WRITTEN_SINCE(Context2, 22);
SAME_MEMBER(Context2, parent_context, parentContextId);
SAME_MEMBER(Context2, is_green_context, isGreenContext);
#if CUPTI_API_VERSION >= 24
SAME_MEMBER(Context2, multiprocessors, numMultiprocessors);
#endif
#endif

#if CUPTI_API_VERSION >= 24
SAME_SIZE(Context3);
WRITTEN_SINCE(Context3, 24);
SAME_MEMBER(Context3, cig_mode, cigMode);
#endif

#if CUPTI_API_VERSION >= 130101
SAME_SIZE(Context4);
WRITTEN_SINCE(Context4, 130101);
SAME_MEMBER(Context4, process, processId);
#endif

SAME_SIZE(Stream);
SAME_MEMBER(Stream, kind, kind);
SAME_MEMBER(Stream, context, contextId);
SAME_MEMBER(Stream, stream, streamId);
SAME_MEMBER(Stream, priority, priority);
SAME_MEMBER(Stream, flag, flag);
SAME_MEMBER(Stream, correlation, correlationId);

SAME_SIZE(GraphTrace);
SAME_MEMBER(GraphTrace, kind, kind);
SAME_MEMBER(GraphTrace, correlation, correlationId);
SAME_MEMBER(GraphTrace, start, start);
SAME_MEMBER(GraphTrace, end, end);
SAME_MEMBER(GraphTrace, device, deviceId);
SAME_MEMBER(GraphTrace, graph, graphId);
SAME_MEMBER(GraphTrace, context, contextId);
SAME_MEMBER(GraphTrace, stream, streamId);

#if CUPTI_API_VERSION >= 21
SAME_SIZE(GraphTrace2);
WRITTEN_SINCE(GraphTrace2, 21);
SAME_MEMBER(GraphTrace2, end_device, endDeviceId);
SAME_MEMBER(GraphTrace2, end_context, endContextId);
#endif

SAME_SIZE(Memory3);
SAME_MEMBER(Memory3, kind, kind);
SAME_MEMBER(Memory3, operation, memoryOperationType);
SAME_MEMBER(Memory3, memory_kind, memoryKind);
SAME_MEMBER(Memory3, correlation, correlationId);
SAME_MEMBER(Memory3, address, address);
SAME_MEMBER(Memory3, bytes, bytes);
SAME_MEMBER(Memory3, timestamp, timestamp);
SAME_MEMBER(Memory3, pc, PC);
SAME_MEMBER(Memory3, process, processId);
SAME_MEMBER(Memory3, device, deviceId);
SAME_MEMBER(Memory3, context, contextId);
SAME_MEMBER(Memory3, stream, streamId);
SAME_MEMBER(Memory3, name, name);
SAME_MEMBER(Memory3, is_async, isAsync);
SAME_MEMBER(Memory3, pool, memoryPoolConfig);
SAME_MEMBER(Memory3, pool.address, memoryPoolConfig.address);
SAME_MEMBER(Memory3, pool.release_threshold, memoryPoolConfig.releaseThreshold);
SAME_MEMBER(Memory3, pool.size_or_process, memoryPoolConfig.pool);
SAME_MEMBER(Memory3, pool.utilized_size, memoryPoolConfig.utilizedSize);

#if CUPTI_API_VERSION >= 24
SAME_SIZE(Memory4);
WRITTEN_SINCE(Memory4, 24);
SAME_MEMBER(Memory4, source, source);
#endif

SAME_SIZE(Name);
SAME_MEMBER(Name, kind, kind);
SAME_MEMBER(Name, object_kind, objectKind);
SAME_MEMBER(Name, object, objectId);
SAME_MEMBER(Name, name, name);

SAME_SIZE(Environment);
SAME_MEMBER(Environment, kind, kind);
SAME_MEMBER(Environment, device, deviceId);
SAME_MEMBER(Environment, timestamp, timestamp);
SAME_MEMBER(Environment, environment_kind, environmentKind);
SAME_OFFSET(Environment, speed, data);
SAME_OFFSET(Environment, speed.memory_clock, data.speed.memoryClock);
SAME_OFFSET(Environment, speed.throttle_reasons, data.speed.clocksThrottleReasons);
SAME_OFFSET(Environment, temperature, data.temperature.gpuTemperature);
SAME_OFFSET(Environment, power.limit, data.power.powerLimit);
SAME_OFFSET(Environment, fan_speed, data.cooling.fanSpeed);
