// Kinds and flags in CUPTI's records, with CUPTI's own values (cupti_abi.h explains the declarations).
//
// Thread rule: types and constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope::cuda::cupti {

enum class ActivityKind : std::uint32_t {
  kInvalid = 0,
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kName = 11,
  kOverhead = 17,
  kEnvironment = 20,
  kMemcpy2 = 22,
  kCudaEvent = 36,
  kStream = 37,
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kMemory = 45,
  kInternalLaunchApi = 48,
  kMemory2 = 49,
  kMemoryPool = 50,
  kGraphTrace = 51,
  kJit = 52,
  kDeviceGraphTrace = 53,
  kMemDecompress = 54,
  kGraphHostNode = 56,
};

enum class MemcpyKind : std::uint8_t {
  kUnknown = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kHostToArray = 3,
  kArrayToHost = 4,
  kArrayToArray = 5,
  kArrayToDevice = 6,
  kDeviceToArray = 7,
  kDeviceToDevice = 8,
  kHostToHost = 9,
  kPeerToPeer = 10,
};

// CUPTI stores it in 8, 16 or 32 bits, as the record has room.
enum class MemoryKind : std::uint32_t {
  kUnknown = 0,
  kPageable = 1,
  kPinned = 2,
  kDevice = 3,
  kArray = 4,
  kManaged = 5,
  kDeviceStatic = 6,
  kManagedStatic = 7,
};

enum class OverheadKind : std::uint32_t {
  kUnknown = 0,
  kDriverCompiler = 1,
  kBufferFlush = 1 << 16,
  kInstrumentation = 2 << 16,
  kResource = 3 << 16,
  kModuleLoading = 4 << 16,
  kLazyFunctionLoading = 5 << 16,
  kCommandBufferFull = 6 << 16,
  kActivityBufferRequest = 7 << 16,
  kUvmActivityInit = 8 << 16,
};

enum class SyncType : std::uint32_t {
  kUnknown = 0,
  kEventSynchronize = 1,
  kStreamWaitEvent = 2,
  kStreamSynchronize = 3,
  kContextSynchronize = 4,
};

enum class ExternalCorrelationKind : std::uint32_t {
  kUnknown = 1,
  kOpenAcc = 2,
  kCustom0 = 3,
  kCustom1 = 4,
  kCustom2 = 5
};
enum class ObjectKind : std::uint32_t {
  kUnknown = 0,
  kProcess = 1,
  kThread = 2,
  kDevice = 3,
  kContext = 4,
  kStream = 5
};
enum class ChannelType : std::uint32_t { kInvalid = 0, kCompute = 1, kAsyncMemcpy = 2 };
enum class LaunchType : std::uint8_t {
  kRegular = 0,
  kCooperativeSingleDevice = 1,
  kCooperativeMultiDevice = 2,
  kCommandList = 3,
};
enum class MemoryOperation : std::uint32_t { kInvalid = 0, kAllocation = 1, kRelease = 2 };
enum class MemoryPoolType : std::uint32_t { kInvalid = 0, kLocal = 1, kImported = 2 };
enum class EnvironmentKind : std::uint32_t { kUnknown = 0, kSpeed = 1, kTemperature = 2, kPower = 3, kCooling = 4 };
enum class StreamFlag : std::uint32_t { kUnknown = 0, kDefault = 1, kNonBlocking = 2, kNull = 3 };
inline constexpr std::uint8_t kMemcpyAsync = 1;   // bit of Memcpy5::flags and of MemcpyPtoP4::flags
inline constexpr std::uint16_t kMemsetAsync = 1;  // bit of Memset4::flags
// The values of CudaEvent and Synchronization for "no stream" and "no event".
inline constexpr std::uint32_t kNoStream = 0xFFFFFFFF;
inline constexpr std::uint32_t kNoEvent = 0xFFFFFFFF;

enum class CallbackDomain : std::uint32_t {
  kInvalid = 0,
  kDriverApi = 1,
  kRuntimeApi = 2,
  kResource = 3,
  kSynchronize = 4,
  kNvtx = 5,
  kState = 6,
};

// Callbacks of the domain kResource that are about graphs.
enum class ResourceCallback : std::uint32_t {
  kGraphDestroyStarting = 10,
  kGraphNodeCreated = 13,
  kGraphNodeDependencyCreated = 15,
  kGraphExecDestroyStarting = 19,
  kGraphNodeCloned = 20,
};
// The driver's.
enum class GraphNodeType : std::uint32_t {
  kKernel = 0,
  kMemcpy = 1,
  kMemset = 2,
  kHost = 3,
  kChildGraph = 4,
  kEmpty = 5,
  kWaitEvent = 6,
  kEventRecord = 7,
  kConditional = 13,
};

enum class ThreadIdType : std::uint32_t { kDefault = 0, kSystem = 1 };  // pthread_self() cut to 32 bits; gettid()
inline constexpr std::uint32_t kFlushForced = 1;                        // flag of ActivityFlushAll

enum class Result : std::uint32_t {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidDevice = 2,
  kInvalidContext = 3,
  kInvalidOperation = 7,
  kOutOfMemory = 8,
  kParameterSizeNotSufficient = 10,
  kApiNotImplemented = 11,
  kMaxLimitReached = 12,
  kNotReady = 13,
  kNotCompatible = 14,
  kNotInitialized = 15,
  kQueueEmpty = 18,
  kInvalidKind = 21,
  kDisabled = 23,
  kHardwareBusy = 26,
  kNotSupported = 27,
  kVirtualizedDeviceNotSupported = 33,
  kInsufficientPrivileges = 35,
  kLegacyProfilerNotSupported = 38,
  kMultipleSubscribersNotSupported = 39,
  kVirtualizedDeviceInsufficientPrivileges = 40,
  kConfidentialComputingNotSupported = 41,
  kCmpDeviceNotSupported = 42,
  kMigDeviceNotSupported = 43,
  kSliDeviceNotSupported = 44,
  kWslDeviceNotSupported = 45,
  kUnknown = 999,
};

}  // namespace opscope::cuda::cupti
