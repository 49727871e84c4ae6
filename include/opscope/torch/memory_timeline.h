// What a program's memory holds over time: every tensor's storage from its
// allocation to its free, in a category that follows from its use
// (docs/reference/memory_timeline.md). Categories, their precedence and the rows
// are those of torch.profiler's memory timeline.
//
//   const MemoryTimeline timeline = BuildMemoryTimeline(trace);
//   const MemoryByCategory sums = SumByCategory(timeline, {.type = 0}, trace.info().epoch_ns);
//   // sums.bytes[i][MemoryCategory::kGradient]: bytes of gradients from sums.times_us[i] on
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

// What memory is used for, in the order of torch's files.
enum class MemoryCategory : uint8_t {
  // Weights of a module.
  kParameter = 0,
  // State of an optimizer, such as momentum.
  kOptimizerState = 1,
  // Used to compute gradients and depending on none: inputs of the model.
  kInput = 2,
  // Allocated and freed within one operator.
  kTemporary = 3,
  // Made of inputs outside of autograd: results of the forward pass.
  kActivation = 4,
  kGradient = 5,
  // Any other output of autograd.
  kAutogradDetail = 6,
  kUnknown = 7,
};
// Number of categories.
inline constexpr size_t kMemoryCategories = 8;
// "PARAMETER", ..., "Unknown": torch's spelling.
[[nodiscard]] std::string_view MemoryCategoryName(MemoryCategory category);

// What happened to a storage; torch's numbers.
enum class MemoryAction : uint8_t {
  // Existed before the recording began.
  kPreexisting = 1,
  // Was allocated.
  kCreate = 2,
  // Was written to; may change its category.
  kIncrementVersion = 3,
  // Was freed.
  kDestroy = 4,
};

// No operator has used the memory.
inline constexpr uint32_t kNoTensor = 0xffffffff;

// One event of one storage.
struct MemoryTimelineRow {
  // Meaningless for kPreexisting.
  Timestamp time;
  MemoryAction action = MemoryAction::kCreate;
  MemoryCategory category = MemoryCategory::kUnknown;
  // kIncrementVersion: the category from here on.
  MemoryCategory next_category = MemoryCategory::kUnknown;
  // torch's DeviceType and device index.
  int32_t device_type = 0, device = -1;
  // Number of the tensor; tensors that share a storage, or have shared one, have
  // one number. kNoTensor: no operator has used the memory.
  uint32_t tensor = kNoTensor;
  // Number of writes to the storage so far.
  uint32_t version = 0;
  // Address of the storage.
  uint64_t address = 0;
  // Size of the storage.
  int64_t bytes = 0;
};

// All events.
struct MemoryTimeline {
  // Pre-existing storages first, then by time, then by action.
  std::vector<MemoryTimelineRow> rows;
  // False: the input does not say what operators write, so most rows are kUnknown.
  bool has_operators = false;
};

// About 0.3 us per operator.
[[nodiscard]] MemoryTimeline BuildMemoryTimeline(const Trace& trace);

// A device in torch's numbers.
struct MemoryDevice {
  // torch's DeviceType; 0 is the CPU.
  int32_t type = 0;
  int32_t index = -1;
};

// Bytes in use over time.
struct MemoryByCategory {
  // Microseconds since 1970, ascending; events within one microsecond are merged.
  std::vector<int64_t> times_us;
  // By time, then by category: bytes in use from that time on.
  std::vector<std::array<int64_t, kMemoryCategories>> bytes;
};
// Sums the rows of one device. epoch_ns: TraceInfo::epoch_ns. O(rows).
[[nodiscard]] MemoryByCategory SumByCategory(const MemoryTimeline& timeline, MemoryDevice device, int64_t epoch_ns);

}  // namespace opscope
