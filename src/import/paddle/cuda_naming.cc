// Device work is recorded by CUPTI, in the same way for all frameworks. This file gives it the names and members of
// Paddle's own tracer, so that Paddle's statistics and exporters accept opscope's recordings. cuda_naming.h lists the
// two names that differ.
// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/cuda_naming.h"

#include <string>
#include <string_view>

#include "base/json_object.h"
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
void WritePlace(const Details& details, JsonMemberWriter* members) {
  members->Uint("device", details.device).Uint("context", details.context).Uint("stream", details.stream);
}

std::string PaddleKernelMembers(const CudaKernelDetails& kernel, const CudaDeviceDetails& device) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  WritePlace(kernel, &members);
  WritePaddleKernel({.numbers = {0, kernel.block[0], kernel.block[1], kernel.block[2], kernel.grid[0], kernel.grid[1],
                                 kernel.grid[2], kernel.dynamic_shared, kernel.static_shared, kernel.registers},
                     .fractions = {BlocksPerSm(device, kernel), WarpsPerSm(device, kernel), Occupancy(device, kernel)}},
                    &members);
  return text;
}

std::string PaddleCopyMembers(const CudaCopyDetails& copy, bool /*is_between_devices*/) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  WritePlace(copy, &members);
  members.Uint("bytes", copy.bytes)
      .Text("copy kind", PaddleCopyName(copy))
      .Text("source kind", MemoryKindName(copy.source_kind))
      .Text("destination kind", MemoryKindName(copy.target_kind));
  return text;
}

std::string PaddleSetMembers(const CudaSetDetails& set) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  WritePlace(set, &members);
  members.Uint("bytes", set.bytes).Uint("value", set.value).Text("memory kind", MemoryKindName(set.memory_kind));
  return text;
}

std::string PaddleCallMembers(const CudaCallDetails& call) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  WritePaddleNumberIfAny("callback id", call.callback, &members);
  return text;
}

}  // namespace

constexpr CudaNaming kPaddleNaming = {.runtime_call = PaddleEventTypeName(PaddleEventType::kCudaRuntime),
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
