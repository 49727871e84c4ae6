// The kernels of devices: the columns of `opscope devices --kernels`.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/device_kernels.h"

#include <optional>

#include "opscope/report/devices.h"
#include "report/device_place.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

using KernelRow = DeviceKernelRow;
constexpr ResultField<KernelRow> kKernelFields[] = {
    {{"name", "Kernel", kText, "Name of the kernel."},
     [](const Trace& trace, const KernelRow& r) { return trace.text(r.name); }},
    {kDeviceRank, kDeviceRankValue},
    {kDeviceNumber, kDeviceNumberValue},
    {{"count", "Count", kNumber, "How often it ran."}, [](const KernelRow& r) { return r.count; }},
    {{"total_ns", "Total", kTime, "Sum of the durations."}, [](const KernelRow& r) { return r.total_ns; }},
    {{"share", "Share", kShare, "`total_ns` as a part of that of all kernels of the device."},
     [](const KernelRow& r) { return ShareOf(r.total_ns, r.device_total_ns).value_or(0); }},
    {{"mean_ns", "Mean", kTime, "`total_ns` over `count`, rounded down."},
     [](const KernelRow& r) { return r.mean_ns(); }},
    {{"min_ns", "", kTime, "Shortest duration."}, [](const KernelRow& r) { return r.min_ns; }},
    {{"max_ns", "", kTime, "Longest duration."}, [](const KernelRow& r) { return r.max_ns; }},
    {{"tensor_cores", "Tensor cores", kText,
      "`used` if its name says so, `eligible` if an operator launched it that can use them, else empty."},
     [](const KernelRow& r) { return r.uses_tensor_cores ? "used"
                                     : r.eligible > 0    ? "eligible"
                                                         : ""; }},
    {{"grid", "Grid", kText, "Grid of the most frequent launch, `8x16x5`."}, [](const KernelRow& r) { return r.grid; }},
    {{"block", "Block", kText, "Block of the most frequent launch."}, [](const KernelRow& r) { return r.block; }},
    {{"alike", "", kNumber, "Launches with that grid and block."}, [](const KernelRow& r) { return r.alike; }},
    {{"occupancy", "Occupancy", kShare, "Mean estimated occupancy of those that have it."},
     [](const KernelRow& r) -> std::optional<double> {
       if (!r.occupancy) return std::nullopt;
       return *r.occupancy / 100;
     }},
    {{"operator", "Operator", kText, "The operator that launched most of its time."},
     [](const Trace& trace, const KernelRow& r) { return trace.text(r.operator_name); }},
    {{"operators", "", kNumber, "How many names the operators that launched it have."},
     [](const KernelRow& r) { return r.operators; }},
    {{"eligible", "", kNumber, "Runs launched by an operator that can use tensor cores."},
     [](const KernelRow& r) { return r.eligible; }},
};

}  // namespace

const ResultDescription& KernelResult() {
  static const ResultDescription description = DescribeResult<KernelRow>(
      "devices", "kernels", "The kernels of a device that have the same name.", kKernelFields);
  return description;
}

ResultTable KernelTable(const Trace& trace, const std::vector<DeviceKernelRow>& kernels) {
  return MakeResultTable<KernelRow>(KernelResult(), kKernelFields, trace, kernels);
}

}  // namespace opscope
