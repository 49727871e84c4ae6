// Converts averages of function events into rows of torch's table.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/table.h"

namespace opscope {
namespace {

TorchTableRow RowOf(const Trace& trace, const FunctionEvents& events, const FunctionEventAverage& average) {
  TorchTableRow row;
  const uint32_t first = Row(average.first);
  const uint8_t flags = events.flags[first];
  const bool is_device = (flags & function_event_flags::kDevice) != 0;
  row.key = NameText(trace, events, first);
  row.overload_name = average.overload_name;
  row.input_shapes = average.input_shapes;
  row.has_input_shapes = !average.input_shapes.empty() && average.input_shapes != "[]";
  row.stack = average.stack;
  row.self_cpu_time_total = average.self_cpu_time_total_us;
  row.cpu_time_total = average.cpu_time_total_us;
  row.cpu_time = average.cpu_time_us();
  row.self_device_time_total = average.self_device_time_total_us;
  row.device_time_total = average.device_time_total_us;
  row.device_time = average.device_time_us();
  row.cpu_memory_usage = average.cpu_memory_usage;
  row.self_cpu_memory_usage = average.self_cpu_memory_usage;
  row.device_memory_usage = average.device_memory_usage;
  row.self_device_memory_usage = average.self_device_memory_usage;
  row.count = average.count;
  row.flops = static_cast<double>(average.flops);
  row.is_async = (flags & function_event_flags::kAsync) != 0;
  row.is_user_annotation = (flags & function_event_flags::kUserAnnotation) != 0;
  row.has_cpu_parent = events.parent[first] != EventIndex::kNone;
  row.is_cpu = !is_device;
  row.counts_as_device = is_device;
  return row;
}

}  // namespace

std::vector<TorchTableRow> TorchTableRows(const Trace& trace, const FunctionEvents& events,
                                          std::span<const FunctionEventAverage> averages) {
  std::vector<TorchTableRow> rows;
  rows.reserve(averages.size());
  for (const FunctionEventAverage& average : averages)
    rows.push_back(RowOf(trace, events, average));
  return rows;
}

}  // namespace opscope
