// The list behind `prof.events()` as one table, for pandas, Arrow and SQL: torch's
// attributes under torch's names, with the unit in the name if there is one
// (`cpu_time_total_us`, `cpu_memory_usage_bytes`).
//
//   const FunctionEvents events = BuildFunctionEvents(trace);
//   const FunctionEventTable table(trace, events);
//   for (const TableColumn& column : table.view().columns) Print(column.name);
//
// Thread rule: immutable once built. It refers to the Trace and the FunctionEvents,
// which must outlive it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/table.h"
#include "opscope/torch/function_events.h"

namespace opscope {

// Columns of FunctionEvents, and columns computed from them.
class FunctionEventTable {
 public:
  // O(events). Columns that FunctionEvents has are not copied.
  FunctionEventTable(const Trace& trace, const FunctionEvents& events);
  // The view points into this object, so it does not move.
  FunctionEventTable(FunctionEventTable&&) = delete;

  // The table. Its own_texts are the texts of input shapes and rewritten names.
  const TableView& view() const { return view_; }

 private:
  void FillTexts(const Trace& trace, const FunctionEvents& events);
  void FillNumbers(const Trace& trace, const FunctionEvents& events);
  void FillDeviceTimes(const FunctionEvents& events);
  void AddColumns(const FunctionEvents& events);

  // Points at columns of FunctionEvents, and at the columns below.
  TableView view_;
  // Texts that the Trace does not have.
  std::vector<std::string> shapes_;
  // Computed columns: one value per event.
  std::vector<StringId> overload_, category_, input_shapes_;
  std::vector<double> cpu_time_total_us_, self_cpu_time_total_us_, device_time_total_us_, self_device_time_total_us_;
  std::vector<int64_t> sequence_, self_cpu_memory_usage_, self_device_memory_usage_;
  std::vector<uint64_t> forward_thread_;
  std::vector<uint8_t> scope_, is_async_, is_user_annotation_, is_python_function_;
};

}  // namespace opscope
