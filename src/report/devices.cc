// How busy the devices were: a table for people, CSV, and "opscope.devices/1".
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/devices.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opscope/report/devices.h"
#include "report/device_rows.h"
#include "report/row_table.h"

namespace opscope {
namespace {

std::string StreamName(const Trace& trace, const DeviceRow& row) {
  if (row.stream == TrackId::kNone) return "all";
  const TrackColumns& tracks = trace.tracks();
  const uint32_t track = Row(row.stream);
  return tracks.tid_text[track] == StringId::kNone ? std::to_string(tracks.tid[track])
                                                   : std::string(trace.text(tracks.tid_text[track]));
}

template <typename Value>
void AddTimes(const std::vector<DeviceRow>& devices, const char* key, const char* title, Value value, RowTable* rows) {
  std::vector<int64_t>& times = rows->Add(key, title, RowUnit::kTime).numbers;
  for (const DeviceRow& row : devices)
    times.push_back(value(row));
}

// What the busy time was, and why the rest was idle.
void AddCauses(const std::vector<DeviceRow>& devices, RowTable* rows) {
  AddTimes(devices, "compute_ns", "", [](const DeviceRow& r) { return r.compute_ns; }, rows);
  AddTimes(devices, "communication_ns", "Communication", [](const DeviceRow& r) { return r.communication_ns; }, rows);
  AddTimes(devices, "overlap_ns", "", [](const DeviceRow& r) { return r.overlap_ns; }, rows);
  AddTimes(
      devices, "exposed_communication_ns", "of it exposed",
      [](const DeviceRow& r) { return r.exposed_communication_ns; }, rows);
  AddTimes(devices, "exposed_copy_ns", "", [](const DeviceRow& r) { return r.exposed_copy_ns; }, rows);
  AddTimes(devices, "host_wait_ns", "Host wait", [](const DeviceRow& r) { return r.host_wait_ns; }, rows);
  AddTimes(devices, "kernel_wait_ns", "Kernel wait", [](const DeviceRow& r) { return r.kernel_wait_ns; }, rows);
  AddTimes(devices, "other_wait_ns", "", [](const DeviceRow& r) { return r.other_wait_ns; }, rows);
  AddTimes(devices, "outside_ns", "", [](const DeviceRow& r) { return r.outside_ns; }, rows);
  for (const char* key : {"communication_ns", "exposed_communication_ns", "host_wait_ns", "kernel_wait_ns"})
    rows->HideIfZero(key);
}

void AddLaunches(const std::vector<DeviceRow>& devices, RowTable* rows) {
  using Delay = LaunchDelays::Delay;
  const auto add_number = [&](const char* key, const char* title, const auto& value) {
    std::vector<int64_t>& numbers = rows->Add(key, title, RowUnit::kNumber).numbers;
    for (const DeviceRow& row : devices)
      numbers.push_back(static_cast<int64_t>(value(row.launches)));
    rows->HideIfZero(key);
  };
  const auto add_delay = [&](const char* key, const char* title, int64_t Delay::* value) {
    const auto of = [value](const DeviceRow& r) { return r.launches.delay ? (*r.launches.delay).*value : kNoNumber; };
    AddTimes(devices, key, title, of, rows);
    rows->HideIfZero(key);
  };
  add_number("launched", "", [](const LaunchDelays& l) { return l.launched; });
  add_delay("launch_delay_mean_ns", "", &Delay::mean_ns);
  add_delay("launch_delay_p50_ns", "Launch delay p50", &Delay::p50_ns);
  add_delay("launch_delay_p99_ns", "p99", &Delay::p99_ns);
  add_delay("launch_delay_max_ns", "", &Delay::max_ns);
  add_number("shorter_than_launch", "", [](const LaunchDelays& l) { return l.shorter_than_launch; });
  add_number("queue_max", "Queue max", [](const LaunchDelays& l) { return l.queue_max; });
  add_number("queue_mean", "", [](const LaunchDelays& l) { return l.queue_mean; });
}

void AddTensorCores(const std::vector<DeviceRow>& devices, RowTable* rows) {
  AddTimes(devices, "tensor_core_ns", "Tensor cores", [](const DeviceRow& r) { return r.tensor_core_ns; }, rows);
  AddTimes(
      devices, "tensor_core_eligible_ns", "Tensor eligible",
      [](const DeviceRow& r) { return r.tensor_core_eligible_ns; }, rows);
  for (const char* key : {"tensor_core_ns", "tensor_core_eligible_ns"})
    rows->HideIfZero(key);
}

RowTable RowsOf(const Trace& trace, const std::vector<DeviceRow>& devices) {
  RowTable rows;
  std::vector<int64_t> spans;
  std::vector<std::string> streams;
  std::vector<double> shares;
  for (const DeviceRow& row : devices) {
    streams.push_back(StreamName(trace, row));
    spans.push_back(static_cast<int64_t>(row.spans));
    shares.push_back(row.window_ns == 0 ? 0 : static_cast<double>(row.busy_ns) / static_cast<double>(row.window_ns));
  }
  AddPlaces(trace, devices, &rows);
  rows.AddTexts("stream", "Stream", std::move(streams));
  rows.AddNumbers("spans", "Spans", RowUnit::kNumber, std::move(spans));
  AddTimes(devices, "busy_ns", "Busy", [](const DeviceRow& r) { return r.busy_ns; }, &rows);
  rows.Add("busy_share", "Busy %", RowUnit::kShare).shares = std::move(shares);
  AddTimes(devices, "idle_ns", "Idle", [](const DeviceRow& r) { return r.idle_ns(); }, &rows);
  AddTimes(devices, "longest_idle_ns", "Longest idle", [](const DeviceRow& r) { return r.longest_idle_ns; }, &rows);
  AddTimes(devices, "kernel_ns", "Kernels", [](const DeviceRow& r) { return r.kernel_ns; }, &rows);
  AddTimes(devices, "copy_ns", "Copies", [](const DeviceRow& r) { return r.copy_ns; }, &rows);
  AddTimes(devices, "set_ns", "Sets", [](const DeviceRow& r) { return r.set_ns; }, &rows);
  AddTimes(devices, "window_ns", "", [](const DeviceRow& r) { return r.window_ns; }, &rows);
  AddCauses(devices, &rows);
  AddLaunches(devices, &rows);
  AddTensorCores(devices, &rows);
  return rows;
}

Result<RowTable> SortedRows(const Trace& trace, const std::vector<DeviceRow>& devices, const RowOptions& options) {
  RowTable rows = RowsOf(trace, devices);
  if (!options.sort.empty()) OPSCOPE_TRY(rows.Sort(options.sort));
  return rows;
}

}  // namespace

Result<std::string> FormatDeviceTable(const Trace& trace, const std::vector<DeviceRow>& devices,
                                      const RowOptions& options) {
  Result<RowTable> rows = SortedRows(trace, devices, options);
  if (!rows.ok()) return rows.error();
  return devices.empty() ? std::string() : rows.value().ForPeople(options.limit, options.width);
}

Result<std::string> DevicesCsv(const Trace& trace, const std::vector<DeviceRow>& devices, const RowOptions& options) {
  Result<RowTable> rows = SortedRows(trace, devices, options);
  if (!rows.ok()) return rows.error();
  return rows.value().Csv(options.limit);
}

Result<std::string> DevicesJson(const Trace& trace, const DeviceReport& report, const RowOptions& options,
                                DeviceList sorted) {
  std::optional<RowTable> rows, kernels, copies;
  if (report.devices) rows = RowsOf(trace, *report.devices);
  if (report.kernels) kernels = KernelRowsOf(trace, *report.kernels);
  if (report.copies) copies = CopyRowsOf(trace, *report.copies);
  std::optional<RowTable>& chosen = sorted == DeviceList::kKernels  ? kernels
                                    : sorted == DeviceList::kCopies ? copies
                                                                    : rows;
  if (chosen && !options.sort.empty()) OPSCOPE_TRY(chosen->Sort(options.sort));
  std::vector<KeyedRows> more;
  if (kernels) more.push_back({"kernels", &*kernels});
  if (copies) more.push_back({"copies", &*copies});
  return RowsJson("opscope.devices/1", trace, rows ? &*rows : nullptr, options,
                  report.quality ? &*report.quality : nullptr, more);
}

}  // namespace opscope
