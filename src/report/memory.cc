// What was allocated on devices, and by whom: the columns of `opscope memory`. Each column is described once (key,
// title, unit, getter); text, CSV and JSON are made from the description. The three lists share the columns that name
// the device.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/memory.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "base/saturating.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

// By torch's number, as torch.device prints them.
constexpr const char* kTorchDeviceTypes[] = {"cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
                                             "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
                                             "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone"};

constexpr ResultColumn kMemoryRank{"rank", "Rank", kNumber, "Rank of the process; -1 if the input does not say it.",
                                   kIfKnown};
constexpr ResultColumn kMemoryDeviceType{"device_type", "", kNumber,
                                         "torch's `DeviceType` number: 0 is the host, 1 is CUDA."};
constexpr ResultColumn kMemoryDevice{"device", "", kNumber, "Number of the device; -1 if it has none."};
constexpr ResultColumn kMemoryDeviceName{"", "Device", kText};

constexpr auto kMemoryRankValue = [](const auto& r) { return r.place.rank; };
constexpr auto kMemoryDeviceTypeValue = [](const auto& r) { return r.place.device_type; };
constexpr auto kMemoryDeviceValue = [](const auto& r) { return r.place.device; };
constexpr auto kMemoryDeviceNameValue = [](const auto& r) { return MemoryDeviceName(r.place); };

constexpr ResultField<DeviceMemoryRow> kMemoryDeviceFields[] = {
    {kMemoryRank, kMemoryRankValue},
    {kMemoryDeviceType, kMemoryDeviceTypeValue},
    {kMemoryDevice, kMemoryDeviceValue},
    {kMemoryDeviceName, kMemoryDeviceNameValue},
    {{"allocations", "Allocations", kNumber, "Number of allocations."},
     [](const DeviceMemoryRow& r) { return r.allocations; }},
    {{"frees", "Frees", kNumber, "Number of frees."}, [](const DeviceMemoryRow& r) { return r.frees; }},
    {{"allocated_bytes", "Allocated", kBytes, "Sum of the allocations."},
     [](const DeviceMemoryRow& r) { return r.allocated_bytes; }},
    {{"freed_bytes", "Freed", kBytes, "Sum of the frees, positive."},
     [](const DeviceMemoryRow& r) { return r.freed_bytes; }},
    {{"start_bytes", "Start", kBytes, "Allocated before the first event."},
     [](const DeviceMemoryRow& r) { return r.start_bytes; }},
    {{"end_bytes", "End", kBytes, "Allocated after the last event."},
     [](const DeviceMemoryRow& r) { return r.end_bytes; }},
    {{"peak_bytes", "Peak", kBytes, "Most that was allocated at once."},
     [](const DeviceMemoryRow& r) { return r.peak_bytes; }},
    {{"peak_ns", "", kTime, "Time of the first event that reached the peak."},
     [](const DeviceMemoryRow& r) { return r.peak_ns; }},
    {{"peak_reserved_bytes", "Peak reserved", kBytes, "Most that the allocator held.", kIfNonZero},
     [](const DeviceMemoryRow& r) { return r.peak_reserved_bytes; }},
    {{"kept", "Kept", kNumber, "Addresses with an allocation that no free ended."},
     [](const DeviceMemoryRow& r) { return r.kept; }},
};

constexpr ResultField<OperatorMemoryRow> kMemoryFields[] = {
    {kMemoryRank, kMemoryRankValue},
    {kMemoryDeviceType, kMemoryDeviceTypeValue},
    {kMemoryDevice, kMemoryDeviceValue},
    {kMemoryDeviceName, kMemoryDeviceNameValue},
    {{"name", "Name", kText,
      "The innermost operator, range or call on the thread; `(none)` outside of all, `(before)` for the rest of the "
      "peak, which no recorded allocation accounts for."},
     [](const Trace& trace, const OperatorMemoryRow& r) {
       return r.is_before ? "(before)" : r.name == StringId::kNone ? "(none)" : trace.text(r.name);
     }},
    {{"allocations", "Allocations", kNumber, "Number of allocations."},
     [](const OperatorMemoryRow& r) { return r.allocations; }},
    {{"allocated_bytes", "Allocated", kBytes, "Sum of the allocations."},
     [](const OperatorMemoryRow& r) { return r.allocated_bytes; }},
    {{"peak_bytes", "At the peak", kBytes, "Those of them that are live at the peak of the device."},
     [](const OperatorMemoryRow& r) { return r.peak_bytes; }},
};

constexpr ResultField<StepMemoryRow> kMemoryStepFields[] = {
    {kMemoryRank, kMemoryRankValue},
    {kMemoryDeviceType, kMemoryDeviceTypeValue},
    {kMemoryDevice, kMemoryDeviceValue},
    {kMemoryDeviceName, kMemoryDeviceNameValue},
    {{"step", "Step", kNumber, "Number of the step, as the program counts."},
     [](const StepMemoryRow& r) { return r.number; }},
    {{"start_bytes", "Start", kBytes, "Allocated at its begin."}, [](const StepMemoryRow& r) { return r.start_bytes; }},
    {{"end_bytes", "End", kBytes, "Allocated at its end."}, [](const StepMemoryRow& r) { return r.end_bytes; }},
    {{"peak_bytes", "Peak", kBytes, "Most that was allocated at once from its begin to its end."},
     [](const StepMemoryRow& r) { return r.peak_bytes; }},
};

// People read times since the begin, as --time takes them.
ResultTable DeviceTableSince(int64_t begin_ns, const Trace& trace, const MemoryUsage& usage) {
  ResultTable table(MemoryDeviceResult());
  for (const ResultField<DeviceMemoryRow>& field : kMemoryDeviceFields) {
    table.Add(field, usage.devices, [&](const DeviceMemoryRow& row) { return field.value(trace, row); });
    if (field.key != "peak_ns") continue;
    table.Add(ResultColumn{"", "Peak at", kTime}, usage.devices,
              [&](const DeviceMemoryRow& row) { return SaturatingSubtract(row.peak_ns, begin_ns); });
  }
  table.Keep("peak_bytes");
  return table;
}

}  // namespace

std::string MemoryDeviceName(const MemoryPlace& place) {
  const bool is_known =
      place.device_type >= 0 && place.device_type < static_cast<int32_t>(std::size(kTorchDeviceTypes));
  const std::string type =
      is_known ? kTorchDeviceTypes[place.device_type] : "type " + std::to_string(place.device_type);
  return place.device < 0 ? type : type + ":" + std::to_string(place.device);
}

const ResultDescription& MemoryResult() {
  static const ResultDescription description = DescribeResult<OperatorMemoryRow>(
      "memory", "rows", "The allocations on a device in operators of one name, and what they hold at its peak.",
      kMemoryFields);
  return description;
}

const ResultDescription& MemoryDeviceResult() {
  static const ResultDescription description = DescribeResult<DeviceMemoryRow>(
      "memory", "devices", "A device of a rank: what was allocated there. The host is a device too.",
      kMemoryDeviceFields);
  return description;
}

const ResultDescription& MemoryStepResult() {
  static const ResultDescription description = DescribeResult<StepMemoryRow>(
      "memory", "steps", "What was allocated on a device during a step of its rank.", kMemoryStepFields);
  return description;
}

ResultTable MemoryTable(const Trace& trace, const MemoryUsage& usage) {
  ResultTable table = MakeResultTable<OperatorMemoryRow>(MemoryResult(), kMemoryFields, trace, usage.rows);
  table.Keep("peak_bytes");
  return table;
}

ResultTable MemoryDeviceTable(const Trace& trace, const MemoryUsage& usage) {
  const auto starts = trace.spans().start;
  return DeviceTableSince(starts.empty() ? 0 : std::min_element(starts.begin(), starts.end())->ns, trace, usage);
}

ResultTable MemoryStepTable(const Trace& trace, const MemoryUsage& usage) {
  return MakeResultTable<StepMemoryRow>(MemoryStepResult(), kMemoryStepFields, trace, usage.steps);
}

VerbResult MemoryVerbResult(const Trace& trace, const MemoryUsage& usage, std::optional<int64_t> begin_ns) {
  VerbResult result;
  result.tables.push_back(MemoryTable(trace, usage));
  result.tables.push_back(begin_ns ? DeviceTableSince(*begin_ns, trace, usage) : MemoryDeviceTable(trace, usage));
  result.tables.push_back(MemoryStepTable(trace, usage));
  result.shown = {1, 0};
  result.omitted = {"steps", usage.omitted_steps};
  return result;
}

}  // namespace opscope
