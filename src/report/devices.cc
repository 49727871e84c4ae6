// How busy the devices were: a table for people, CSV, and "opscope.devices/1".
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/devices.h"

#include <string>
#include <utility>
#include <vector>

#include "opscope/report/devices.h"
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

RowTable RowsOf(const Trace& trace, const std::vector<DeviceRow>& devices) {
  RowTable rows;
  std::vector<int64_t> numbers, ranks, spans;
  std::vector<std::string> streams;
  std::vector<double> shares;
  for (const DeviceRow& row : devices) {
    numbers.push_back(row.device);
    ranks.push_back(row.process == ProcessId::kNone ? -1 : trace.processes().rank[Row(row.process)]);
    streams.push_back(StreamName(trace, row));
    spans.push_back(static_cast<int64_t>(row.spans));
    shares.push_back(row.window_ns == 0 ? 0 : static_cast<double>(row.busy_ns) / static_cast<double>(row.window_ns));
  }
  bool has_ranks = false;
  for (const int64_t rank : ranks)
    has_ranks |= rank >= 0;
  rows.AddNumbers("rank", has_ranks ? "Rank" : "", RowUnit::kNumber, std::move(ranks));
  rows.AddNumbers("device", "Device", RowUnit::kNumber, std::move(numbers));
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

Result<std::string> DevicesJson(const Trace& trace, const std::vector<DeviceRow>& devices, const RowOptions& options) {
  Result<RowTable> rows = SortedRows(trace, devices, options);
  if (!rows.ok()) return rows.error();
  return RowsJson("opscope.devices/1", trace, rows.value(), options);
}

}  // namespace opscope
