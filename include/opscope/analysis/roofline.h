// Rates of operators against what the machine can reach: FLOPs, bytes, arithmetic intensity and the roofline.
// docs/reference/roofline.md defines every number and lists the formulas.
//
//   const RooflineReport report = MeasureRoofline(trace, {.peak_flops = 67e12, .peak_bandwidth = 3.35e12});
//   for (const RooflineRow& row : report.rows)
//     if (row.peak_share && *row.peak_share < 0.2) Print(trace.text(row.name), row.shapes, row.time_ns);
//
// Each moment of an operator counts in one row: an operator with a formula has its whole duration without the operators
// inside it that have a formula of their own; any other operator outside of these has its own time.
//
// Thread rule: pure functions of an immutable Trace; results are plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// Which of the two limits of the roofline is the lower one for an operator.
enum class RooflineBound : uint8_t { kUnknown, kCompute, kMemory };

// The calls of an operator with the same input shapes and type.
struct RooflineRow {
  StringId name = StringId::kEmpty;
  // "[[64, 32], [32, 16]]"; "[]" if the input has no shapes.
  std::string shapes;
  // Type of the elements: of the first floating-point tensor, else of the first tensor; "": unknown.
  std::string dtype;
  // Number of calls, at least 1.
  uint64_t calls = 0;
  // Time of the device where the trace has work of one, else of the host; nanoseconds.
  int64_t time_ns = 0;
  // Time of the host, without operators that have a row of their own.
  int64_t host_ns = 0;
  // Operations of all calls; nullopt: no formula covers one of them, or a size is out of range.
  std::optional<int64_t> flops;
  // Bytes that all calls read and write at least; nullopt likewise.
  std::optional<int64_t> bytes;
  // Some of its kernels compute with floats rounded to TF32, as their names say.
  bool uses_tf32 = false;
  // FLOPs per second at which the device computes with this type, or in TF32; nullopt: unknown.
  std::optional<double> peak_flops;
  // Share of the lower limit that was reached: of peak_flops if the row is bound by
  // computation, of the bandwidth if by memory; nullopt: unknown.
  std::optional<double> peak_share;
  RooflineBound bound = RooflineBound::kUnknown;

  // FLOPs per second; nullopt: unknown, or no time.
  std::optional<double> flops_per_s() const;
  // Bytes per second; nullopt likewise.
  std::optional<double> bytes_per_s() const;
  // FLOPs per byte; nullopt: unknown, or no bytes.
  std::optional<double> intensity() const;
};

// What to measure, and against which peaks.
struct RooflineOptions {
  // One entry per span (SpanFilter::Select), 1 counts; nullptr: all spans count.
  const std::vector<uint8_t>* selected = nullptr;
  // Of the machine, for all types; nullopt: from the table of devices by name.
  std::optional<double> peak_flops;      // FLOPs per second
  std::optional<double> peak_bandwidth;  // bytes per second
};

struct RooflineReport {
  // Largest time first; equal times by name, shapes and type.
  std::vector<RooflineRow> rows;
  // Name of the devices whose peaks the table has; "": none, several kinds, or not in the table.
  std::string device;
  // Bytes per second of the memory; nullopt: unknown.
  std::optional<double> peak_bandwidth;
  // Of all rows; nanoseconds.
  int64_t time_ns = 0;
  // Of the rows with FLOPs and bytes.
  int64_t known_ns = 0;
  // Some operator has recorded arguments with a tensor of a known type.
  bool has_shapes = false;
};

// One row per operator, input shapes and type. O(spans + device work), and O(n log n) in rows. Evaluates a formula once
// per distinct name and argument list.
[[nodiscard]] RooflineReport MeasureRoofline(const Trace& trace, const RooflineOptions& options = {});

// Peaks that the manufacturer states for a device, without sparsity.
struct DevicePeaks {
  // The device's name without "NVIDIA " and "Tesla ": "H100 80GB HBM3".
  std::string_view name;
  // Bytes per second.
  double bandwidth = 0;
  // FLOPs per second by type; 0: not stated.
  double float64 = 0, float32 = 0, tensor_float32 = 0, float16 = 0, bfloat16 = 0, float8 = 0;
  // The document with these numbers.
  std::string_view source;
};

// The table of devices.
[[nodiscard]] std::span<const DevicePeaks> KnownDevicePeaks();
// The row for a name such as "NVIDIA H100 80GB HBM3"; nullptr: not in the table.
[[nodiscard]] const DevicePeaks* PeaksOfDevice(std::string_view name);

}  // namespace opscope
