// What the memory of a program holds, moment by moment: every tensor's storage from its allocation to its free, in a
// category that follows from what the program does with it (docs/analyses.md, "Memory timeline"). The categories,
// their order of precedence and the rows are those of torch.profiler's memory timeline.
//
// Thread rule: pure functions of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// In the order of torch's files.
enum class MemoryCategory : uint8_t {
  kParameter = 0,
  kOptimizerState = 1,
  kInput = 2,
  kTemporary = 3,
  kActivation = 4,
  kGradient = 5,
  kAutogradDetail = 6,
  kUnknown = 7,
};
inline constexpr size_t kMemoryCategories = 8;
// "PARAMETER", ..., "Unknown".
[[nodiscard]] std::string_view MemoryCategoryName(MemoryCategory category);

enum class MemoryAction : uint8_t {
  kPreexisting = 1,       // was there before the recording
  kCreate = 2,            // allocated
  kIncrementVersion = 3,  // written to: from here on it may be of another category
  kDestroy = 4,           // freed
};

inline constexpr uint32_t kNoTensor = 0xffffffff;

struct MemoryTimelineRow {
  Timestamp time;  // of kPreexisting: none
  MemoryAction action = MemoryAction::kCreate;
  MemoryCategory category = MemoryCategory::kUnknown;
  MemoryCategory next_category = MemoryCategory::kUnknown;  // kIncrementVersion: from here on
  int32_t device_type = 0, device = -1;                     // torch's
  // Tensors that share storage, or have had the same one, have one number; kNoTensor: no operator has used the memory.
  uint32_t tensor = kNoTensor;
  uint32_t version = 0;  // of the storage: how often it was written to
  uint64_t address = 0;
  int64_t bytes = 0;
};

struct MemoryTimeline {
  // What was there before, then by time, then by action.
  std::vector<MemoryTimelineRow> rows;
  bool has_operators = false;  // false: the input does not say what operators write, so most is kUnknown
};

// About 0.3 us per operator.
[[nodiscard]] MemoryTimeline BuildMemoryTimeline(const Trace& trace);

struct MemoryDevice {
  int32_t type = 0;  // torch's DeviceType number
  int32_t index = -1;
};

// Bytes held from each of these times on, in microseconds since 1970. Several rows of one microsecond are one.
struct MemoryByCategory {
  std::vector<int64_t> times_us;
  std::vector<std::array<int64_t, kMemoryCategories>> bytes;
};
[[nodiscard]] MemoryByCategory SumByCategory(const MemoryTimeline& timeline, MemoryDevice device, int64_t epoch_ns);

}  // namespace opscope
