// Tables taken from Kineto's sources: names by CUPTI's numbers, the runtime calls that it hides and the driver calls
// that it shows. CUPTI's names of calls have suffixes without meaning for a reader, a version ("cudaMemcpy_v3020") and
// a default stream per thread ("_ptsz"); both are removed before the lookup.
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

namespace opscope {
namespace {

constexpr std::string_view kCopyKinds[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                           "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::string_view kMemoryKinds[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                             "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr std::string_view kOverheads[] = {"Unknown",
                                           "Buffer Flush",
                                           "Instrumentation",
                                           "Resource",
                                           "Runtime Triggered Module Loading",
                                           "Lazy Function Loading",
                                           "Command Buffer Full",
                                           "Activity Buffer Request",
                                           "UVM Activity Init"};
constexpr std::string_view kSynchronizations[] = {"Unknown", "Event Sync", "Stream Wait Event", "Stream Sync",
                                                  "Context Sync"};

constexpr std::string_view kHiddenCalls[] = {
    "cudaGetDevice",   "cudaSetDevice", "cudaGetLastError", "cudaEventCreate", "cudaEventCreateWithFlags",
    "cudaEventDestroy"};
constexpr std::string_view kShownDriverCalls[] = {"cuLaunchKernel",
                                                  "cuLaunchKernelEx",
                                                  "cuMemCreate",
                                                  "cuMemMap",
                                                  "cuMemUnmap",
                                                  "cuMemRelease",
                                                  "cuMemExportToShareableHandle",
                                                  "cuMemImportFromShareableHandle"};
constexpr std::string_view kLaunches[] = {"cudaLaunchKernel",
                                          "cudaLaunchKernelExC",
                                          "cudaLaunchCooperativeKernel",
                                          "cudaLaunchCooperativeKernelMultiDevice",
                                          "cudaLaunch",
                                          "cudaGraphLaunch",
                                          "cudaStreamSynchronize",
                                          "cudaDeviceSynchronize",
                                          "cudaStreamWaitEvent",
                                          "cuLaunchKernel",
                                          "cuLaunchKernelEx"};

template <size_t kSize>
std::string_view NameAt(const std::string_view (&names)[kSize], uint32_t at, std::string_view otherwise) {
  return at < kSize ? names[at] : otherwise;
}

template <size_t kSize>
bool Has(const std::string_view (&names)[kSize], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Calls for programs that are compiled with a default stream for each thread.
std::string_view WithoutStreamSuffix(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

}  // namespace

std::string_view CopyKindName(uint32_t kind) {
  return NameAt(kCopyKinds, kind, "");
}

std::string_view MemoryKindName(uint32_t kind) {
  return NameAt(kMemoryKinds, kind, "Unrecognized");
}

std::string CopyName(const CudaCopyDetails& copy) {
  const std::string_view kind = CopyKindName(copy.copy_kind);
  std::string name = "Memcpy ";
  name.append(kind.empty() ? "<unknown>" : kind).append(" (").append(MemoryKindName(copy.source_kind));
  return name.append(" -> ").append(MemoryKindName(copy.target_kind)).append(")");
}

std::string SetName(const CudaSetDetails& set) {
  return std::string("Memset (").append(MemoryKindName(set.memory_kind)).append(")");
}

std::string_view OverheadName(uint32_t kind) {
  if (kind == 1) return "Driver Compiler";
  if ((kind & 0xffff) != 0) return "Unrecognized";
  return NameAt(kOverheads, kind >> 16, "Unrecognized");
}

std::string_view SynchronizationName(uint32_t type) {
  return NameAt(kSynchronizations, type, "Unknown");
}

std::string_view CallName(std::string_view name) {
  const size_t at = name.rfind("_v");
  const bool is_version = at != std::string_view::npos && at + 2 < name.size() &&
                          name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return is_version ? name.substr(0, at) : name;
}

bool IsShownCall(std::string_view name, bool is_driver) {
  name = WithoutStreamSuffix(CallName(name));
  return is_driver ? Has(kShownDriverCalls, name) : !Has(kHiddenCalls, name);
}

bool IsLaunch(std::string_view name) {
  name = WithoutStreamSuffix(CallName(name));
  return name.starts_with("cudaMemcpy") || name.starts_with("cudaMemset") || Has(kLaunches, name);
}

std::string DemangledName(std::string_view mangled) {
  std::string text(mangled);
  if (!mangled.starts_with("_Z")) return text;
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &failed), &std::free);
  return failed == 0 && readable != nullptr ? std::string(readable.get()) : text;
}

std::string KernelName(std::string_view mangled) {
  std::string readable = DemangledName(mangled);
  return readable == "kernel" ? "Kernel" : readable;
}

}  // namespace opscope
