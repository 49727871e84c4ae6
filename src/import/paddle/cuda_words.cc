// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/cuda_words.h"

#include <string>
#include <string_view>

#include "base/member_writer.h"
#include "import/cuda/occupancy.h"
#include "import/paddle/device_members.h"
#include "opscope/cuda_event.h"
#include "opscope/paddle_event_type.h"

namespace opscope {
namespace {

std::string PaddleCopyName(const CudaCopyDetails& copy) {
  const std::string_view kind = CopyKindName(copy.copy_kind);
  return kind.empty() ? "MEMCPY" : "MEMCPY_" + std::string(kind);
}

template <typename Details>
void WritePlace(const Details& details, MemberWriter* members) {
  members->Unsigned("device", details.device).Unsigned("context", details.context).Unsigned("stream", details.stream);
}

std::string PaddleKernelMembers(const CudaKernelDetails& kernel, const CudaDeviceDetails& device) {
  std::string text;
  MemberWriter members(&text);
  WritePlace(kernel, &members);
  WritePaddleKernel({.numbers = {0, kernel.block[0], kernel.block[1], kernel.block[2], kernel.grid[0], kernel.grid[1],
                                 kernel.grid[2], kernel.dynamic_shared, kernel.static_shared, kernel.registers},
                     .fractions = {BlocksPerSm(device, kernel), WarpsPerSm(device, kernel), Occupancy(device, kernel)}},
                    &members);
  return text;
}

std::string PaddleCopyMembers(const CudaCopyDetails& copy, bool /*is_between_devices*/) {
  std::string text;
  MemberWriter members(&text);
  WritePlace(copy, &members);
  members.Unsigned("bytes", copy.bytes)
      .Text("copy kind", PaddleCopyName(copy))
      .Text("source kind", MemoryKindName(copy.source_kind))
      .Text("destination kind", MemoryKindName(copy.target_kind));
  return text;
}

std::string PaddleSetMembers(const CudaSetDetails& set) {
  std::string text;
  MemberWriter members(&text);
  WritePlace(set, &members);
  members.Unsigned("bytes", set.bytes)
      .Unsigned("value", set.value)
      .Text("memory kind", MemoryKindName(set.memory_kind));
  return text;
}

std::string PaddleCallMembers(const CudaCallDetails& call) {
  std::string text;
  MemberWriter members(&text);
  WritePaddleNumberIfAny("callback id", call.callback, &members);
  return text;
}

}  // namespace

constexpr CudaWords kPaddlesWords = {.runtime_call = PaddleEventTypeName(PaddleEventType::kCudaRuntime),
                                     .driver_call = PaddleEventTypeName(PaddleEventType::kCudaRuntime),
                                     .kernel = PaddleEventTypeName(PaddleEventType::kKernel),
                                     .copy = PaddleEventTypeName(PaddleEventType::kMemcpy),
                                     .set = PaddleEventTypeName(PaddleEventType::kMemset),
                                     .arrow = "launch",
                                     .arrow_category = "async",
                                     .KernelName = &DemangledName,
                                     .CopyName = &PaddleCopyName,
                                     .SetName = [](const CudaSetDetails&) { return std::string("MEMSET"); },
                                     .CallName = [](std::string_view name) { return name; },
                                     .IsShownCall = [](std::string_view, bool) { return true; },
                                     .IsLaunch = [](std::string_view) { return true; },
                                     .KernelMembers = &PaddleKernelMembers,
                                     .CopyMembers = &PaddleCopyMembers,
                                     .SetMembers = &PaddleSetMembers,
                                     .CallMembers = &PaddleCallMembers};

}  // namespace opscope
