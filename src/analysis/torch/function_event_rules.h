// Rules of torch's event list that depend on one name, category or device only. No state.
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
inline bool IsLeftOutByTorch(std::string_view name) {
  return name == "profiler::_record_function_enter_new" || name == "profiler::_record_function_exit" ||
         name == "profiler::_record_function_enter" || name == "aten::is_leaf" || name == "aten::output_nr" ||
         name == "aten::_version" || name == "[memory]" || name == "[OutOfMemory]";
}

// The ranges of its steps, which torch's tables show as one.
inline bool IsProfilerStep(std::string_view name) {
  return name.starts_with("ProfilerStep#");
}
inline constexpr std::string_view kAllProfilerSteps = "ProfilerStep*";

// Kineto's categories of ranges of a device, and of records of events on a stream.
inline constexpr std::string_view kDeviceRange = "gpu_user_annotation";
inline constexpr std::string_view kEventRecord = "cuda_event";

// How torch sees an event of one Kineto category.
struct CategoryRole {
  bool is_listed = true;  // false: what torch makes no events of
  bool is_device_range = false;
  bool is_wait = false;          // of a device's, whatever track it is on
  bool is_event_record = false;  // of a stream's, which torch takes for the CPU's
  bool is_user_annotation = false;
  bool is_runtime = false;     // a call of the device runtime or driver: its id is a CUPTI correlation
  bool is_threadless = false;  // torch gives it no thread of its own: that of its op, else of the profiler's stop
  bool is_python = false;
};
CategoryRole RoleOfCategory(std::string_view category);

// The JSON of a member of the metadata; "" where there is none.
std::string_view MetadataText(const Trace& trace, std::string_view key);

// Torch's number of a thread; the system's where that is not known.
inline uint32_t TorchThread(const TrackColumns& tracks, uint32_t track) {
  const uint64_t logical = tracks.logical_thread[track];
  return static_cast<uint32_t>(logical != 0 ? logical : static_cast<uint64_t>(tracks.tid[track]));
}

// Whether the recording was asked for this: "with_flops" and the like.
bool IsSetInMetadata(const Trace& trace, std::string_view key);

// c10's numbers of device types.
inline bool IsHostMemory(int32_t device_type) {
  return device_type == 0 || device_type == 2 || device_type == 5;
}
inline bool IsDeviceMemory(int32_t device_type) {
  return device_type == 1 || device_type == 6 || device_type == 12 || device_type == 20;
}

// Maps the names of a Trace to FunctionEvent names; remembers each.
class NameRewriter {
 public:
  explicit NameRewriter(const Trace& trace);
  // StringId::kNone: torch leaves the event out.
  StringId Rewrite(StringId name);
  std::vector<std::string> TakeRewritten() { return std::move(rewritten_); }

 private:
  StringId Compute(std::string_view name, StringId id);
  StringId Own(std::string text);

  const Trace& trace_;
  std::vector<uint32_t> known_;  // by name id; kUnknown where not asked yet
  std::vector<std::string> rewritten_;
  std::unordered_map<std::string, uint32_t> row_of_;  // in rewritten_
};

}  // namespace opscope
