// Rules of torch's event list that depend only on a name, a category or a device.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// Names that torch leaves out of events(): its own markers and metadata reads.
inline bool IsOmittedByTorch(std::string_view name) {
  return name == "profiler::_record_function_enter_new" || name == "profiler::_record_function_exit" ||
         name == "profiler::_record_function_enter" || name == "aten::is_leaf" || name == "aten::output_nr" ||
         name == "aten::_version" || name == "[memory]" || name == "[OutOfMemory]";
}

// True for step ranges, which torch's tables show as one row.
inline bool IsProfilerStep(std::string_view name) {
  return name.starts_with("ProfilerStep#");
}
inline constexpr std::string_view kAllProfilerSteps = "ProfilerStep*";

// Kineto's categories of device ranges, and of event records on a stream.
inline constexpr std::string_view kDeviceRange = "gpu_user_annotation";
inline constexpr std::string_view kEventRecord = "cuda_event";

// How torch treats events of a Kineto category.
struct CategoryRole {
  bool is_listed = true;  // false: torch makes no events of it
  bool is_device_range = false;
  bool is_wait = false;          // a device event, on whatever track
  bool is_event_record = false;  // on a stream, but a CPU event for torch
  bool is_user_annotation = false;
  bool is_threadless = false;  // torch gives it the thread of its op, else the one that stopped the profiler
  bool is_python = false;
};
CategoryRole RoleOfCategory(std::string_view category);

// The JSON of a metadata entry; "" if there is none.
std::string_view MetadataText(const Trace& trace, std::string_view key);

// torch's thread number, or the system's if it is unknown.
inline uint32_t TorchThread(const TrackColumns& tracks, uint32_t track) {
  const uint64_t logical = tracks.logical_thread[track];
  return static_cast<uint32_t>(logical != 0 ? logical : static_cast<uint64_t>(tracks.tid[track]));
}

// True if the metadata entry is 1: "with_flops" and similar options.
bool IsSetInMetadata(const Trace& trace, std::string_view key);

// Device types by c10::DeviceType.
inline bool IsHostMemory(int32_t device_type) {
  return device_type == 0 || device_type == 2 || device_type == 5;
}
inline bool IsDeviceMemory(int32_t device_type) {
  return device_type == 1 || device_type == 6 || device_type == 12 || device_type == 20;
}

// Maps names of a Trace to names of FunctionEvents, with a cache per name.
class NameRewriter {
 public:
  explicit NameRewriter(const Trace& trace);
  // StringId::kNone if torch leaves the event out. New texts get ids after the Trace's.
  StringId Rewrite(StringId name);
  std::vector<std::string> TakeRewritten() { return std::move(rewritten_); }

 private:
  StringId Compute(std::string_view name, StringId id);
  StringId Own(std::string text);

  const Trace& trace_;
  std::vector<uint32_t> known_;  // by name id; kUnknown: not computed yet
  std::vector<std::string> rewritten_;
  std::unordered_map<std::string, uint32_t> row_of_;  // in rewritten_
};

}  // namespace opscope
