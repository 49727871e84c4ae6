// The copies of devices: a table for people, CSV, and rows for "opscope.devices/1".
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/device_copies.h"

#include <string>
#include <vector>

#include "opscope/report/devices.h"
#include "report/device_rows.h"

namespace opscope {
namespace {

Result<RowTable> SortedRows(const Trace& trace, const std::vector<DeviceCopyRow>& copies, const RowOptions& options) {
  RowTable rows = CopyRowsOf(trace, copies);
  if (!options.sort.empty()) OPSCOPE_TRY(rows.Sort(options.sort));
  return rows;
}

}  // namespace

RowTable CopyRowsOf(const Trace& trace, const std::vector<DeviceCopyRow>& copies) {
  RowTable rows;
  const auto add_texts = [&](const char* key, const char* title, std::string DeviceCopyRow::* value) {
    std::vector<std::string>& texts = rows.Add(key, title, RowUnit::kText).texts;
    for (const DeviceCopyRow& row : copies)
      texts.push_back(row.*value);
  };
  const auto add = [&](const char* key, const char* title, RowUnit unit, const auto& value) {
    std::vector<int64_t>& numbers = rows.Add(key, title, unit).numbers;
    for (const DeviceCopyRow& row : copies)
      numbers.push_back(static_cast<int64_t>(value(row)));
  };
  AddPlaces(trace, copies, &rows);
  add_texts("kind", "Kind", &DeviceCopyRow::kind);
  add_texts("source", "From", &DeviceCopyRow::source);
  add_texts("target", "To", &DeviceCopyRow::target);
  add("count", "Count", RowUnit::kNumber, [](const DeviceCopyRow& r) { return r.count; });
  add("bytes", "Bytes", RowUnit::kBytes, [](const DeviceCopyRow& r) { return r.bytes.value_or(kNoNumber); });
  add("total_ns", "Total", RowUnit::kTime, [](const DeviceCopyRow& r) { return r.total_ns; });
  add("exposed_ns", "Exposed", RowUnit::kTime, [](const DeviceCopyRow& r) { return r.exposed_ns; });
  add("bytes_per_second", "Per second", RowUnit::kBytes,
      [](const DeviceCopyRow& r) { return r.bytes_per_second.value_or(kNoNumber); });
  add("small", "Small", RowUnit::kNumber, [](const DeviceCopyRow& r) { return r.small; });
  add("small_ns", "", RowUnit::kTime, [](const DeviceCopyRow& r) { return r.small_ns; });
  add("launched", "", RowUnit::kNumber, [](const DeviceCopyRow& r) { return r.launched; });
  add("synchronous", "Synchronous", RowUnit::kNumber, [](const DeviceCopyRow& r) { return r.synchronous; });
  add("synchronous_ns", "", RowUnit::kTime, [](const DeviceCopyRow& r) { return r.synchronous_ns; });
  return rows;
}

Result<std::string> FormatCopyTable(const Trace& trace, const std::vector<DeviceCopyRow>& copies,
                                    const RowOptions& options) {
  Result<RowTable> rows = SortedRows(trace, copies, options);
  if (!rows.ok()) return rows.error();
  return copies.empty() ? std::string() : rows.value().ForPeople(options.limit, options.width);
}

Result<std::string> CopiesCsv(const Trace& trace, const std::vector<DeviceCopyRow>& copies, const RowOptions& options) {
  Result<RowTable> rows = SortedRows(trace, copies, options);
  if (!rows.ok()) return rows.error();
  return rows.value().Csv(options.limit);
}

}  // namespace opscope
