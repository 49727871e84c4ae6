// The memory of devices as tables of results: devices, what holds the memory at the peak, steps.
// docs/reference/results.md lists the columns.
//
//   const MemoryUsage usage = MeasureMemoryUsage(trace);
//   Print(MemoryTable(trace, usage).Text(20));
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "opscope/analysis/memory_usage.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

// "cpu", "cuda:0".
[[nodiscard]] std::string MemoryDeviceName(const MemoryPlace& place);

[[nodiscard]] const ResultDescription& MemoryResult();
[[nodiscard]] const ResultDescription& MemoryDeviceResult();
[[nodiscard]] const ResultDescription& MemoryStepResult();

// A row per device and operator; per device; per device and step. `trace`: the one that was
// measured.
[[nodiscard]] ResultTable MemoryTable(const Trace& trace, const MemoryUsage& usage);
[[nodiscard]] ResultTable MemoryDeviceTable(const Trace& trace, const MemoryUsage& usage);
[[nodiscard]] ResultTable MemoryStepTable(const Trace& trace, const MemoryUsage& usage);

// All three, in this order. Text has the devices, and the operators below them. begin_ns: the time
// from which text counts; nullopt: the begin of the trace's first span.
[[nodiscard]] VerbResult MemoryVerbResult(const Trace& trace, const MemoryUsage& usage,
                                          std::optional<int64_t> begin_ns = std::nullopt);

}  // namespace opscope
