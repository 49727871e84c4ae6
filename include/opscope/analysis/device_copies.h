// The copies of devices by kind and by the memory they are from and to: how fast they were, how many are small, which
// the program waited for, and how long nothing else ran. docs/analyses.md, "Copies", has the rules.
//
// Thread rule: pure functions of an immutable Trace; results are plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

struct DeviceCopyRow {
  ProcessId process = ProcessId::kNone;  // the device's, as the input has it
  int32_t device = -1;
  std::string kind;            // "HtoD", "DtoH", "DtoD", "PtoP", ...; "": not told
  std::string source, target;  // memory: "Pageable", "Pinned", "Device", "Managed", ...; "": not told
  uint64_t count = 0;
  int64_t total_ns = 0;          // the sum of their durations
  int64_t exposed_ns = 0;        // time in which one of them ran and no kernel of the device
  std::optional<int64_t> bytes;  // of those that tell it
  // Of those that tell their bytes and took time, rounded down.
  std::optional<int64_t> bytes_per_second;
  uint64_t small = 0;  // of at most so many bytes (DeviceCopyOptions)
  int64_t small_ns = 0;
  uint64_t launched = 0;     // copies whose call is known
  uint64_t synchronous = 0;  // of them, those for which the program waited in the call, or may have
  int64_t synchronous_ns = 0;
};

struct DeviceCopyOptions {
  const std::vector<uint8_t>* selected = nullptr;  // one entry per span (SpanFilter::Select): 1 counts. nullptr: all
  // CUDA copies so much from the host without waiting for it.
  uint64_t small_bytes = 64 << 10;
};

// A row per device, kind and pair of memories, by total time, falling; then by device, kind and memories. O(n log n) in
// the works of devices and in calls.
[[nodiscard]] std::vector<DeviceCopyRow> MeasureCopies(const Trace& trace, const DeviceCopyOptions& options = {});

}  // namespace opscope
