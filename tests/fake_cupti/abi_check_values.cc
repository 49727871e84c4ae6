// The values of cupti_enums.h and the signatures of cupti_abi.h are those of NVIDIA's headers.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "abi_check.h"

SAME_VALUE(ActivityKind::kInvalid, CUPTI_ACTIVITY_KIND_INVALID);
SAME_VALUE(ActivityKind::kMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME_VALUE(ActivityKind::kMemset, CUPTI_ACTIVITY_KIND_MEMSET);
SAME_VALUE(ActivityKind::kKernel, CUPTI_ACTIVITY_KIND_KERNEL);
SAME_VALUE(ActivityKind::kDriver, CUPTI_ACTIVITY_KIND_DRIVER);
SAME_VALUE(ActivityKind::kRuntime, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME_VALUE(ActivityKind::kDevice, CUPTI_ACTIVITY_KIND_DEVICE);
SAME_VALUE(ActivityKind::kContext, CUPTI_ACTIVITY_KIND_CONTEXT);
SAME_VALUE(ActivityKind::kConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME_VALUE(ActivityKind::kName, CUPTI_ACTIVITY_KIND_NAME);
SAME_VALUE(ActivityKind::kOverhead, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME_VALUE(ActivityKind::kEnvironment, CUPTI_ACTIVITY_KIND_ENVIRONMENT);
SAME_VALUE(ActivityKind::kMemcpy2, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME_VALUE(ActivityKind::kCudaEvent, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
SAME_VALUE(ActivityKind::kStream, CUPTI_ACTIVITY_KIND_STREAM);
SAME_VALUE(ActivityKind::kSynchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME_VALUE(ActivityKind::kExternalCorrelation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
SAME_VALUE(ActivityKind::kMemory, CUPTI_ACTIVITY_KIND_MEMORY);
SAME_VALUE(ActivityKind::kInternalLaunchApi, CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API);
SAME_VALUE(ActivityKind::kMemory2, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME_VALUE(ActivityKind::kMemoryPool, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
SAME_VALUE(ActivityKind::kGraphTrace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
SAME_VALUE(ActivityKind::kJit, CUPTI_ACTIVITY_KIND_JIT);
SAME_VALUE(OverheadKind::kUnknown, CUPTI_ACTIVITY_OVERHEAD_UNKNOWN);
SAME_VALUE(OverheadKind::kDriverCompiler, CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER);
SAME_VALUE(OverheadKind::kBufferFlush, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
SAME_VALUE(OverheadKind::kInstrumentation, CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION);
SAME_VALUE(OverheadKind::kResource, CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE);
SAME_VALUE(SyncType::kUnknown, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN);
SAME_VALUE(SyncType::kEventSynchronize, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
SAME_VALUE(SyncType::kStreamWaitEvent, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
SAME_VALUE(SyncType::kStreamSynchronize, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
SAME_VALUE(SyncType::kContextSynchronize, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
SAME_VALUE(MemoryKind::kUnknown, CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN);
SAME_VALUE(MemoryKind::kPageable, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
SAME_VALUE(MemoryKind::kPinned, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
SAME_VALUE(MemoryKind::kDevice, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
SAME_VALUE(MemoryKind::kArray, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
SAME_VALUE(MemoryKind::kManaged, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
SAME_VALUE(MemoryKind::kDeviceStatic, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC);
SAME_VALUE(MemoryKind::kManagedStatic, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);
SAME_VALUE(ExternalCorrelationKind::kUnknown, CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN);
SAME_VALUE(ExternalCorrelationKind::kOpenAcc, CUPTI_EXTERNAL_CORRELATION_KIND_OPENACC);
SAME_VALUE(ExternalCorrelationKind::kCustom0, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
SAME_VALUE(ExternalCorrelationKind::kCustom1, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1);
SAME_VALUE(ExternalCorrelationKind::kCustom2, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2);
SAME_VALUE(ObjectKind::kUnknown, CUPTI_ACTIVITY_OBJECT_UNKNOWN);
SAME_VALUE(ObjectKind::kProcess, CUPTI_ACTIVITY_OBJECT_PROCESS);
SAME_VALUE(ObjectKind::kThread, CUPTI_ACTIVITY_OBJECT_THREAD);
SAME_VALUE(ObjectKind::kDevice, CUPTI_ACTIVITY_OBJECT_DEVICE);
SAME_VALUE(ObjectKind::kContext, CUPTI_ACTIVITY_OBJECT_CONTEXT);
SAME_VALUE(ObjectKind::kStream, CUPTI_ACTIVITY_OBJECT_STREAM);
SAME_VALUE(ChannelType::kInvalid, CUPTI_CHANNEL_TYPE_INVALID);
SAME_VALUE(ChannelType::kCompute, CUPTI_CHANNEL_TYPE_COMPUTE);
SAME_VALUE(ChannelType::kAsyncMemcpy, CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY);
SAME_VALUE(LaunchType::kRegular, CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR);
SAME_VALUE(LaunchType::kCooperativeSingleDevice, CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE);
SAME_VALUE(LaunchType::kCooperativeMultiDevice, CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE);
SAME_VALUE(LaunchType::kCommandList, CUPTI_ACTIVITY_LAUNCH_TYPE_CBL_COMMANDLIST);
SAME_VALUE(MemoryOperation::kInvalid, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_INVALID);
SAME_VALUE(MemoryOperation::kAllocation, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
SAME_VALUE(MemoryOperation::kRelease, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
SAME_VALUE(MemoryPoolType::kInvalid, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID);
SAME_VALUE(MemoryPoolType::kLocal, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
SAME_VALUE(MemoryPoolType::kImported, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED);
SAME_VALUE(StreamFlag::kUnknown, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN);
SAME_VALUE(StreamFlag::kDefault, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT);
SAME_VALUE(StreamFlag::kNonBlocking, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
SAME_VALUE(StreamFlag::kNull, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL);
SAME_VALUE(CallbackDomain::kInvalid, CUPTI_CB_DOMAIN_INVALID);
SAME_VALUE(CallbackDomain::kDriverApi, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_VALUE(CallbackDomain::kRuntimeApi, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME_VALUE(CallbackDomain::kResource, CUPTI_CB_DOMAIN_RESOURCE);
SAME_VALUE(CallbackDomain::kSynchronize, CUPTI_CB_DOMAIN_SYNCHRONIZE);
SAME_VALUE(CallbackDomain::kNvtx, CUPTI_CB_DOMAIN_NVTX);
SAME_VALUE(ThreadIdType::kDefault, CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
SAME_VALUE(ThreadIdType::kSystem, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME_VALUE(Result::kSuccess, CUPTI_SUCCESS);
SAME_VALUE(Result::kInvalidParameter, CUPTI_ERROR_INVALID_PARAMETER);
SAME_VALUE(Result::kInvalidDevice, CUPTI_ERROR_INVALID_DEVICE);
SAME_VALUE(Result::kInvalidContext, CUPTI_ERROR_INVALID_CONTEXT);
SAME_VALUE(Result::kInvalidOperation, CUPTI_ERROR_INVALID_OPERATION);
SAME_VALUE(Result::kOutOfMemory, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_VALUE(Result::kParameterSizeNotSufficient, CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
SAME_VALUE(Result::kApiNotImplemented, CUPTI_ERROR_API_NOT_IMPLEMENTED);
SAME_VALUE(Result::kMaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME_VALUE(Result::kNotReady, CUPTI_ERROR_NOT_READY);
SAME_VALUE(Result::kNotCompatible, CUPTI_ERROR_NOT_COMPATIBLE);
SAME_VALUE(Result::kNotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
SAME_VALUE(Result::kQueueEmpty, CUPTI_ERROR_QUEUE_EMPTY);
SAME_VALUE(Result::kInvalidKind, CUPTI_ERROR_INVALID_KIND);
SAME_VALUE(Result::kDisabled, CUPTI_ERROR_DISABLED);
SAME_VALUE(Result::kHardwareBusy, CUPTI_ERROR_HARDWARE_BUSY);
SAME_VALUE(Result::kNotSupported, CUPTI_ERROR_NOT_SUPPORTED);
SAME_VALUE(Result::kVirtualizedDeviceNotSupported, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME_VALUE(Result::kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_VALUE(Result::kLegacyProfilerNotSupported, CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
SAME_VALUE(Result::kMultipleSubscribersNotSupported, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_VALUE(Result::kVirtualizedDeviceInsufficientPrivileges, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME_VALUE(Result::kConfidentialComputingNotSupported, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME_VALUE(Result::kCmpDeviceNotSupported, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
SAME_VALUE(Result::kUnknown, CUPTI_ERROR_UNKNOWN);
SAME_VALUE(EnvironmentKind::kUnknown, CUPTI_ACTIVITY_ENVIRONMENT_UNKNOWN);
SAME_VALUE(EnvironmentKind::kSpeed, CUPTI_ACTIVITY_ENVIRONMENT_SPEED);
SAME_VALUE(EnvironmentKind::kTemperature, CUPTI_ACTIVITY_ENVIRONMENT_TEMPERATURE);
SAME_VALUE(EnvironmentKind::kPower, CUPTI_ACTIVITY_ENVIRONMENT_POWER);
SAME_VALUE(EnvironmentKind::kCooling, CUPTI_ACTIVITY_ENVIRONMENT_COOLING);
SAME_VALUE(MemcpyKind::kUnknown, CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN);
SAME_VALUE(MemcpyKind::kHostToDevice, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
SAME_VALUE(MemcpyKind::kDeviceToHost, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
SAME_VALUE(MemcpyKind::kHostToArray, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
SAME_VALUE(MemcpyKind::kArrayToHost, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
SAME_VALUE(MemcpyKind::kArrayToArray, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA);
SAME_VALUE(MemcpyKind::kArrayToDevice, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD);
SAME_VALUE(MemcpyKind::kDeviceToArray, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA);
SAME_VALUE(MemcpyKind::kDeviceToDevice, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
SAME_VALUE(MemcpyKind::kHostToHost, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
SAME_VALUE(MemcpyKind::kPeerToPeer, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);

#if CUPTI_API_VERSION >= 28
SAME_VALUE(ActivityKind::kDeviceGraphTrace, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE);
SAME_VALUE(ActivityKind::kMemDecompress, CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS);
SAME_VALUE(OverheadKind::kModuleLoading, CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING);
SAME_VALUE(OverheadKind::kLazyFunctionLoading, CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING);
SAME_VALUE(OverheadKind::kCommandBufferFull, CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
SAME_VALUE(OverheadKind::kActivityBufferRequest, CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST);
SAME_VALUE(OverheadKind::kUvmActivityInit, CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT);
SAME_VALUE(CallbackDomain::kState, CUPTI_CB_DOMAIN_STATE);
SAME_VALUE(Result::kMigDeviceNotSupported, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
SAME_VALUE(Result::kSliDeviceNotSupported, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
SAME_VALUE(Result::kWslDeviceNotSupported, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
#endif

#if CUPTI_API_VERSION >= 130100
SAME_VALUE(ActivityKind::kGraphHostNode, CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE);
#endif
SAME_VALUE(kMemcpyAsync, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
SAME_VALUE(kMemsetAsync, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
SAME_VALUE(kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME_VALUE(kNoStream, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
SAME_VALUE(kNoEvent, CUPTI_SYNCHRONIZATION_INVALID_VALUE);

// As a caller passes them: as many arguments, each as wide, pointer for pointer.
template <class A, class B>
inline constexpr bool kPassedAlike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class Ours, class Theirs>
struct SameSignature : std::false_type {};
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct SameSignature<R (*)(A...), S (*)(B...)> : std::bool_constant<kPassedAlike<R, S> && (kPassedAlike<A, B> && ...)> {
};
template <class... A, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct SameSignature<void (*)(A...), void (*)(B...)> : std::bool_constant<(kPassedAlike<A, B> && ...)> {};
#define SAME_FUNCTION(name) static_assert(SameSignature<opscope::cuda::cupti::name, decltype(&cupti##name)>::value)
#define SAME_CALLBACK(ours, theirs) static_assert(SameSignature<opscope::cuda::cupti::ours, theirs>::value)

SAME_CALLBACK(CallbackFunction, CUpti_CallbackFunc);
SAME_CALLBACK(BufferRequested, CUpti_BuffersCallbackRequestFunc);
SAME_CALLBACK(BufferCompleted, CUpti_BuffersCallbackCompleteFunc);
SAME_FUNCTION(GetVersion);
SAME_FUNCTION(GetResultString);
SAME_FUNCTION(ActivityRegisterCallbacks);
SAME_FUNCTION(ActivityEnable);
SAME_FUNCTION(ActivityDisable);
SAME_FUNCTION(ActivityFlushAll);
SAME_FUNCTION(ActivityGetNextRecord);
SAME_FUNCTION(ActivityGetNumDroppedRecords);
SAME_FUNCTION(Subscribe);
SAME_FUNCTION(Unsubscribe);
SAME_FUNCTION(GetTimestamp);
SAME_FUNCTION(GetCallbackName);
SAME_FUNCTION(SetThreadIdType);
SAME_FUNCTION(ActivityEnableAndDump);
SAME_FUNCTION(ActivityPushExternalCorrelationId);
SAME_FUNCTION(ActivityPopExternalCorrelationId);
SAME_FUNCTION(EnableCallback);
SAME_FUNCTION(GetGraphNodeId);
SAME_FUNCTION(GetGraphId);
SAME_FUNCTION(GetGraphExecId);
#if CUPTI_API_VERSION >= 130001
SAME_FUNCTION(Subscribe_v2);
SAME_FUNCTION(ActivityEnableCudaEventDeviceTimestamps);
#endif
#if CUPTI_API_VERSION >= 130202
SAME_FUNCTION(ActivityGetEnabledKinds);
#endif

SAME_SIZE_AS(ResourceData, CUpti_ResourceData);
SAME_MEMBER_IN(ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME_SIZE_AS(GraphData, CUpti_GraphData);
SAME_MEMBER_IN(GraphData, graph, CUpti_GraphData, graph);
SAME_MEMBER_IN(GraphData, original_graph, CUpti_GraphData, originalGraph);
SAME_MEMBER_IN(GraphData, node, CUpti_GraphData, node);
SAME_MEMBER_IN(GraphData, original_node, CUpti_GraphData, originalNode);
SAME_MEMBER_IN(GraphData, node_type, CUpti_GraphData, nodeType);
SAME_MEMBER_IN(GraphData, dependency, CUpti_GraphData, dependency);
SAME_MEMBER_IN(GraphData, exec, CUpti_GraphData, graphExec);
SAME_VALUE(ResourceCallback::kGraphDestroyStarting, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
SAME_VALUE(ResourceCallback::kGraphNodeCreated, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME_VALUE(ResourceCallback::kGraphNodeDependencyCreated, CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED);
SAME_VALUE(ResourceCallback::kGraphExecDestroyStarting, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
SAME_VALUE(ResourceCallback::kGraphNodeCloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
#if CUPTI_API_VERSION >= 130001
SAME_MEMBER_IN(SubscriberParams, struct_size, CUpti_SubscriberParams, structSize);
SAME_MEMBER_IN(SubscriberParams, subscriber_name, CUpti_SubscriberParams, subscriberName);
SAME_MEMBER_IN(SubscriberParams, old_subscriber_name, CUpti_SubscriberParams, oldSubscriberName);
SAME_MEMBER_IN(SubscriberParams, old_subscriber_size, CUpti_SubscriberParams, oldSubscriberSize);
#endif
#if CUPTI_API_VERSION >= 130202
SAME_SIZE_AS(SubscriberParams, CUpti_SubscriberParams);
SAME_MEMBER_IN(SubscriberParams, allow_multiple_subscribers, CUpti_SubscriberParams, allowMultipleSubscribers);
#endif
