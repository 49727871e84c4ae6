// The kernels of devices: a table for people, CSV, and rows for "opscope.devices/1".
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/device_kernels.h"

#include <limits>
#include <string>
#include <vector>

#include "opscope/report/devices.h"
#include "report/device_rows.h"

namespace opscope {
namespace {

std::string TensorCoresOf(const DeviceKernelRow& row) {
  return row.uses_tensor_cores ? "used" : row.eligible > 0 ? "eligible" : "";
}

double ShareOf(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Result<RowTable> SortedRows(const Trace& trace, const std::vector<DeviceKernelRow>& kernels,
                            const RowOptions& options) {
  RowTable rows = KernelRowsOf(trace, kernels);
  if (!options.sort.empty()) OPSCOPE_TRY(rows.Sort(options.sort));
  return rows;
}

}  // namespace

RowTable KernelRowsOf(const Trace& trace, const std::vector<DeviceKernelRow>& kernels) {
  RowTable rows;
  const auto add_texts = [&](const char* key, const char* title, const auto& value) {
    std::vector<std::string>& texts = rows.Add(key, title, RowUnit::kText).texts;
    for (const DeviceKernelRow& row : kernels)
      texts.emplace_back(value(row));
  };
  const auto add = [&](const char* key, const char* title, RowUnit unit, const auto& value) {
    std::vector<int64_t>& numbers = rows.Add(key, title, unit).numbers;
    for (const DeviceKernelRow& row : kernels)
      numbers.push_back(static_cast<int64_t>(value(row)));
  };
  const auto add_shares = [&](const char* key, const char* title, const auto& value) {
    std::vector<double>& shares = rows.Add(key, title, RowUnit::kShare).shares;
    for (const DeviceKernelRow& row : kernels)
      shares.push_back(value(row));
  };
  add_texts("name", "Kernel", [&](const DeviceKernelRow& r) { return trace.text(r.name); });
  AddPlaces(trace, kernels, &rows);
  add("count", "Count", RowUnit::kNumber, [](const DeviceKernelRow& r) { return r.count; });
  add("total_ns", "Total", RowUnit::kTime, [](const DeviceKernelRow& r) { return r.total_ns; });
  add_shares("share", "Share", [](const DeviceKernelRow& r) { return ShareOf(r.total_ns, r.device_total_ns); });
  add("mean_ns", "Mean", RowUnit::kTime, [](const DeviceKernelRow& r) { return r.mean_ns(); });
  add("min_ns", "", RowUnit::kTime, [](const DeviceKernelRow& r) { return r.min_ns; });
  add("max_ns", "", RowUnit::kTime, [](const DeviceKernelRow& r) { return r.max_ns; });
  add_texts("tensor_cores", "Tensor cores", &TensorCoresOf);
  add_texts("grid", "Grid", [](const DeviceKernelRow& r) { return r.grid; });
  add_texts("block", "Block", [](const DeviceKernelRow& r) { return r.block; });
  add("alike", "", RowUnit::kNumber, [](const DeviceKernelRow& r) { return r.alike; });
  add_shares("occupancy", "Occupancy", [](const DeviceKernelRow& r) {
    return r.occupancy ? *r.occupancy / 100 : std::numeric_limits<double>::quiet_NaN();
  });
  add_texts("operator", "Operator", [&](const DeviceKernelRow& r) { return trace.text(r.operator_name); });
  add("operators", "", RowUnit::kNumber, [](const DeviceKernelRow& r) { return r.operators; });
  add("eligible", "", RowUnit::kNumber, [](const DeviceKernelRow& r) { return r.eligible; });
  return rows;
}

Result<std::string> FormatKernelTable(const Trace& trace, const std::vector<DeviceKernelRow>& kernels,
                                      const RowOptions& options) {
  Result<RowTable> rows = SortedRows(trace, kernels, options);
  if (!rows.ok()) return rows.error();
  return kernels.empty() ? std::string() : rows.value().ForPeople(options.limit, options.width);
}

Result<std::string> KernelsCsv(const Trace& trace, const std::vector<DeviceKernelRow>& kernels,
                               const RowOptions& options) {
  Result<RowTable> rows = SortedRows(trace, kernels, options);
  if (!rows.ok()) return rows.error();
  return rows.value().Csv(options.limit);
}

}  // namespace opscope
