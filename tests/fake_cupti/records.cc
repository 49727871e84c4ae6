// Sizes of activity records by the simulated version of CUPTI, and the walk over a buffer. NVIDIA appends members to
// its structs from version to version, so a kernel's record is Kernel9 in one version and Kernel13 in a later one; a
// profiler that assumes the wrong size reads garbage from the second record on.
// SPDX-License-Identifier: Apache-2.0
#include "records.h"

namespace fake {
namespace {

// The size of the longest struct that a library of this version writes.
template <class Oldest>
std::size_t Longest(std::uint32_t) {
  return sizeof(Oldest);
}
template <class Oldest, class Next, class... Later>
std::size_t Longest(std::uint32_t api) {
  return api < Next::kSince ? sizeof(Oldest) : Longest<Next, Later...>(api);
}

std::size_t SizeOfStruct(std::uint32_t api, cupti::ActivityKind kind) {
  using namespace cupti;
  if (kind == kUnknownKind) return 48;
  switch (kind) {
    case ActivityKind::kKernel:
    case ActivityKind::kConcurrentKernel:
      return Longest<Kernel9, Kernel10, Kernel11, Kernel12, Kernel13>(api);
    case ActivityKind::kMemcpy:
      return Longest<Memcpy5, Memcpy6, Memcpy7>(api);
    case ActivityKind::kMemcpy2:
      return Longest<MemcpyPtoP4>(api);
    case ActivityKind::kMemset:
      return Longest<Memset4, Memset5>(api);
    case ActivityKind::kGraphHostNode:
      return Longest<GraphHostNode>(api);
    case ActivityKind::kRuntime:
    case ActivityKind::kDriver:
    case ActivityKind::kInternalLaunchApi:
      return Longest<Api>(api);
    case ActivityKind::kExternalCorrelation:
      return Longest<ExternalCorrelation>(api);
    case ActivityKind::kOverhead:
      return Longest<Overhead, Overhead2, Overhead3>(api);
    case ActivityKind::kSynchronization:
      return Longest<Synchronization, Synchronization2>(api);
    case ActivityKind::kCudaEvent:
      return Longest<CudaEvent, CudaEvent2, CudaEvent3>(api);
    case ActivityKind::kDevice:
      return Longest<Device4, Device5, Device6>(api);
    case ActivityKind::kContext:
      return Longest<Context, Context2, Context3, Context4>(api);
    case ActivityKind::kStream:
      return Longest<Stream>(api);
    case ActivityKind::kGraphTrace:
      return Longest<GraphTrace, GraphTrace2>(api);
    case ActivityKind::kMemory2:
      return Longest<Memory3, Memory4>(api);
    case ActivityKind::kName:
      return Longest<Name>(api);
    case ActivityKind::kEnvironment:
      return Longest<Environment>(api);
    default:
      return 0;
  }
}

}  // namespace

std::size_t SizeOfRecord(const Scenario& scenario, cupti::ActivityKind kind) {
  const std::size_t size = SizeOfStruct(scenario.api, kind);
  return size == 0 ? 0 : size + scenario.longer;
}

cupti::Result NextRecord(const Scenario& scenario, std::uint8_t* buffer, std::size_t valid_size,
                         cupti::Activity** record) {
  using cupti::Result;
  if (buffer == nullptr || record == nullptr) return Result::kInvalidParameter;
  if (valid_size == 0) return Result::kMaxLimitReached;
  const auto size_at = [&](const std::uint8_t* at) {
    return SizeOfRecord(scenario, reinterpret_cast<const cupti::Activity*>(at)->kind);
  };
  std::uint8_t* next = buffer;
  if (*record != nullptr) {
    auto* const last = reinterpret_cast<std::uint8_t*>(*record);
    if (last < buffer || last >= buffer + valid_size) return Result::kInvalidParameter;
    next = last + size_at(last);
  }
  if (next >= buffer + valid_size) return Result::kMaxLimitReached;
  const std::size_t size = size_at(next);
  if (size == 0) return scenario.api <= 18 ? Result::kUnknown : Result::kInvalidKind;
  if (next + size > buffer + valid_size) return Result::kMaxLimitReached;
  *record = reinterpret_cast<cupti::Activity*>(next);
  return Result::kSuccess;
}

}  // namespace fake
