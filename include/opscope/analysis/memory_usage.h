// Measures how much memory was allocated on each device over time, its peak, and which operators
// hold the memory at the peak. docs/reference/memory.md has the rules.
//
//   const MemoryUsage usage = MeasureMemoryUsage(trace);
//   for (const DeviceMemoryRow& device : usage.devices)
//     Print(device.place.device, device.peak_bytes, device.peak_ns);
//   for (const OperatorMemoryRow& row : usage.rows)
//     Print(trace.text(row.name), row.peak_bytes);
//
// The input is the table `allocations`, which has rows if the program was recorded with its
// memory (torch, Paddle: profile_memory=True). Where it is empty, `tensor_lives` (MegEngine)
// takes its place: a tensor allocates the memory that no other tensor covers.
//
// Thread rule: pure function of an immutable Trace; the result is a plain value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// A device of a rank. The host is a device too.
struct MemoryPlace {
  // Rank of the process; -1: unknown. Processes without a rank are one.
  int32_t rank = -1;
  // torch's DeviceType number: 0 is the host, 1 is CUDA.
  int32_t device_type = 0;
  // Number of the device; -1: unknown, as that of a host.
  int32_t device = -1;

  auto operator<=>(const MemoryPlace&) const = default;
};

// The level of a device over the whole trace. The level is the number of allocated bytes.
struct DeviceMemoryRow {
  MemoryPlace place;
  // Number of events of each kind. An event of 0 bytes is neither.
  uint64_t allocations = 0, frees = 0;
  // Their bytes, both positive.
  int64_t allocated_bytes = 0, freed_bytes = 0;
  // Level before the first event, and after the last one.
  int64_t start_bytes = 0, end_bytes = 0;
  // Largest level, start_bytes included.
  int64_t peak_bytes = 0;
  // Time of the first event after which the level is peak_bytes; of the first event if
  // start_bytes is the peak.
  int64_t peak_ns = 0;
  // Most bytes that the allocator held. nullopt: no event has that number.
  std::optional<int64_t> peak_reserved_bytes;
  // Addresses with an allocation that no free ended.
  uint64_t kept = 0;
};

// The allocations of a device that were made in host spans of one name.
struct OperatorMemoryRow {
  MemoryPlace place;
  // Name of the innermost host span. kNone: no host span was open.
  StringId name = StringId::kNone;
  // True in the row of what no known allocation accounts for: the memory from before the first
  // event, less frees of unknown addresses. Its name is kNone.
  bool is_before = false;
  // Number and bytes of the allocations.
  uint64_t allocations = 0;
  int64_t allocated_bytes = 0;
  // Bytes of those that are live just after the peak event of the device.
  int64_t peak_bytes = 0;
};

// The level of a device in a step of its rank.
struct StepMemoryRow {
  MemoryPlace place;
  // Number of the step, as the program counts.
  int64_t number = 0;
  // Level at the begin and at the end of the step's range, after all events before that moment.
  int64_t start_bytes = 0, end_bytes = 0;
  // Largest level from begin to end.
  int64_t peak_bytes = 0;
};

// The result. Bytes that a damaged file claims saturate.
struct MemoryUsage {
  // By rank, device type, device.
  std::vector<DeviceMemoryRow> devices;
  // By device; within a device by descending peak_bytes, then by descending allocated_bytes, then
  // by name. The row that is_before is the last one of its device.
  std::vector<OperatorMemoryRow> rows;
  // By device, within it by the begin of the step, then by number.
  std::vector<StepMemoryRow> steps;
  // Rows that `steps` lacks: it has at most kMaxSteps, since a damaged file may have any number of
  // devices and of steps.
  uint64_t omitted_steps = 0;
  static constexpr size_t kMaxSteps = 4'000'000;
};

// `selected`: one entry per span (SpanFilter::Select), 1 counts; nullptr: all events count. With a
// selection the level is still that of all events, but looked at only after events at whose time a
// selected span is open on their thread: counts and bytes are theirs, the peak is the largest level
// after one of them, and start_bytes the level before the first. `steps` has those whose range is
// selected. docs/reference/memory.md, "Chosen spans".
//
// Of tensor lives an event is chosen if a chosen span of its rank is open at its time.
//
// O(spans) on threads with allocations, O(n) in allocations that are in order of time, else
// O(n log n); O(log n) per row of `steps`.
[[nodiscard]] MemoryUsage MeasureMemoryUsage(const Trace& trace, const std::vector<uint8_t>* selected = nullptr);

// True if MeasureMemoryUsage has something to measure.
[[nodiscard]] inline bool HasMemoryEvents(const Trace& trace) {
  return trace.allocations().size() > 0 || trace.tensor_lives().size() > 0;
}

}  // namespace opscope
