// Measures the copies of devices by kind and by source and target memory: how fast
// they were, how many are small, for which ones the program waited, and how long
// nothing else ran. docs/reference/devices.md has the rules.
//
//   for (const DeviceCopyRow& row : MeasureCopies(trace))
//     Print(row.kind, row.count, row.total_ns, row.exposed_ns);
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

// All copies of one device, kind and pair of memories. Times in nanoseconds.
struct DeviceCopyRow {
  // The process under which the input lists the device.
  ProcessId process = ProcessId::kNone;
  // Number of the device; -1: unknown.
  int32_t device = -1;
  // "HtoD", "DtoH", "DtoD", "PtoP", ...; "": unknown.
  std::string kind;
  // Kinds of memory: "Pageable", "Pinned", "Device", "Managed", ...; "": unknown.
  std::string source, target;
  // Number of copies, at least 1.
  uint64_t count = 0;
  // Sum of their durations.
  int64_t total_ns = 0;
  // Time in which one of them ran and no kernel of the device.
  int64_t exposed_ns = 0;
  // Sum over the copies with a known size; nullopt: none has one.
  std::optional<int64_t> bytes;
  // Rate of the copies with a known size and a duration above 0, rounded down;
  // nullopt: none.
  std::optional<int64_t> bytes_per_second;
  // Copies of at most DeviceCopyOptions::small_bytes, and their total duration.
  uint64_t small = 0;
  int64_t small_ns = 0;
  // Copies whose runtime call is known.
  uint64_t launched = 0;
  // Those of them for which the program waited in the call, or may have waited.
  uint64_t synchronous = 0;
  // Total duration of the synchronous copies.
  int64_t synchronous_ns = 0;
};

// What to measure.
struct DeviceCopyOptions {
  // One entry per span (SpanFilter::Select), 1 counts; nullptr: all spans count.
  const std::vector<uint8_t>* selected = nullptr;
  // Largest size of a small copy. The default is the size up to which CUDA copies
  // pageable host memory without waiting.
  uint64_t small_bytes = 64 << 10;
};

// One row per device, kind and pair of memories: longest total first, then by
// device, kind and memories. O(spans), and O(n log n) in device spans and the calls
// that launched them.
[[nodiscard]] std::vector<DeviceCopyRow> MeasureCopies(const Trace& trace, const DeviceCopyOptions& options = {});

}  // namespace opscope
