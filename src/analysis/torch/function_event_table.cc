// The event list as a table for Arrow and DataFrames. Columns that FunctionEvents already has are exposed without a
// copy; derived ones are computed once. Rendered texts (rewritten names, shapes) get ids after those of the Trace, each
// distinct shape once.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/function_event_table.h"

#include <unordered_map>

namespace opscope {
namespace {

namespace flags = function_event_flags;

template <typename T>
void AddColumn(std::string_view name, ColumnType type, ColumnMeaning meaning, const std::vector<T>& values,
               TableView* view) {
  const bool is_id = meaning == ColumnMeaning::kText || meaning == ColumnMeaning::kHandle;
  view->columns.push_back(
      {name, type, meaning, static_cast<const void*>(values.data()), is_id ? std::optional(kNoneBits) : std::nullopt});
}

}  // namespace

FunctionEventTable::FunctionEventTable(const Trace& trace, const FunctionEvents& events) {
  view_.name = "events";
  view_.rows = events.size();
  FillTexts(trace, events);
  FillNumbers(trace, events);
  if (!events.use_device.empty()) FillDeviceTimes(events);
  AddColumns(events);
}

// Own texts have ids after those of the Trace: rewritten names first, as in FunctionEvents, then shapes.
void FunctionEventTable::FillTexts(const Trace& trace, const FunctionEvents& events) {
  const SpanColumns& spans = trace.spans();
  overload_.resize(events.size(), StringId::kEmpty);
  category_.resize(events.size(), StringId::kNone);
  input_shapes_.resize(events.size());
  std::unordered_map<ArgsId, uint32_t> shape_of;          // index in shapes_
  std::unordered_map<std::string, uint32_t> row_of_text;  // many argument lists have the same shapes
  for (size_t i = 0; i < events.size(); ++i) {
    ArgsId args = ArgsId::kNone;
    if (events.span[i] != SpanId::kNone) {
      const uint32_t span = Row(events.span[i]);
      if (spans.overload[span] != StringId::kNone) overload_[i] = spans.overload[span];
      category_[i] = spans.category[span];
      args = spans.args[span];
    }
    const auto [found, added] = shape_of.try_emplace(args, 0);
    if (added) {
      const auto text = row_of_text.try_emplace(InputShapesText(trace, args), static_cast<uint32_t>(shapes_.size()));
      if (text.second) shapes_.push_back(text.first->first);
      found->second = text.first->second;
    }
    input_shapes_[i] =
        StringId{events.first_rewritten_name + static_cast<uint32_t>(events.rewritten_names.size()) + found->second};
  }
  view_.first_own_text = events.first_rewritten_name;
  view_.own_texts.assign(events.rewritten_names.begin(), events.rewritten_names.end());
  view_.own_texts.insert(view_.own_texts.end(), shapes_.begin(), shapes_.end());
}

void FunctionEventTable::FillNumbers(const Trace& trace, const FunctionEvents& events) {
  const SpanColumns& spans = trace.spans();
  for (size_t i = 0; i < events.size(); ++i) {
    const bool has_span = events.span[i] != SpanId::kNone;
    const uint32_t span = has_span ? Row(events.span[i]) : 0;
    const bool on_device = (events.flags[i] & flags::kDevice) != 0;
    const bool is_async = (events.flags[i] & flags::kAsync) != 0;
    cpu_time_total_us_.push_back(on_device ? 0 : CpuTimeTotal(events, i));
    self_cpu_time_total_us_.push_back(on_device || is_async ? 0 : SelfCpuTimeTotal(events, i));
    sequence_.push_back(has_span ? spans.sequence[span] : -1);
    const uint64_t forward = has_span && spans.sequence[span] >= 0 ? spans.forward_thread[span] : 0;
    forward_thread_.push_back(has_span ? forward : events.thread[i]);
    scope_.push_back(static_cast<uint8_t>(ScopeTypeOf(trace, events, i)));
    is_async_.push_back(is_async ? 1 : 0);
    is_user_annotation_.push_back((events.flags[i] & flags::kUserAnnotation) != 0 ? 1 : 0);
    is_python_function_.push_back((events.flags[i] & flags::kPythonFunction) != 0 ? 1 : 0);
    if (!events.cpu_memory_usage.empty()) self_cpu_memory_usage_.push_back(SelfCpuMemoryUsage(events, i));
    if (!events.device_memory_usage.empty()) self_device_memory_usage_.push_back(SelfDeviceMemoryUsage(events, i));
  }
}

void FunctionEventTable::FillDeviceTimes(const FunctionEvents& events) {
  for (size_t i = 0; i < events.size(); ++i) {
    const bool is_async = (events.flags[i] & flags::kAsync) != 0;
    device_time_total_us_.push_back(is_async ? 0 : DeviceTimeTotal(events, i));
    self_device_time_total_us_.push_back(is_async ? 0 : SelfDeviceTimeTotal(events, i));
  }
}

void FunctionEventTable::AddColumns(const FunctionEvents& events) {
  constexpr auto kValue = ColumnMeaning::kValue;
  constexpr auto kText = ColumnMeaning::kText;
  constexpr auto kHandle = ColumnMeaning::kHandle;
  AddColumn("name", ColumnType::kUint32, kText, events.name, &view_);
  AddColumn("overload_name", ColumnType::kUint32, kText, overload_, &view_);
  AddColumn("activity_type", ColumnType::kUint32, kText, category_, &view_);
  AddColumn("thread", ColumnType::kUint32, kValue, events.thread, &view_);
  AddColumn("start_us", ColumnType::kFloat64, kValue, events.start_us, &view_);
  AddColumn("end_us", ColumnType::kFloat64, kValue, events.end_us, &view_);
  AddColumn("cpu_time_total_us", ColumnType::kFloat64, kValue, cpu_time_total_us_, &view_);
  AddColumn("self_cpu_time_total_us", ColumnType::kFloat64, kValue, self_cpu_time_total_us_, &view_);
  if (!events.use_device.empty()) {
    AddColumn("device_time_total_us", ColumnType::kFloat64, kValue, device_time_total_us_, &view_);
    AddColumn("self_device_time_total_us", ColumnType::kFloat64, kValue, self_device_time_total_us_, &view_);
  }
  AddColumn("cpu_parent", ColumnType::kUint32, kHandle, events.parent, &view_);
  AddColumn("input_shapes", ColumnType::kUint32, kText, input_shapes_, &view_);
  if (!events.cpu_memory_usage.empty()) {
    AddColumn("cpu_memory_usage_bytes", ColumnType::kInt64, kValue, events.cpu_memory_usage, &view_);
    AddColumn("self_cpu_memory_usage_bytes", ColumnType::kInt64, kValue, self_cpu_memory_usage_, &view_);
  }
  if (!events.device_memory_usage.empty()) {
    AddColumn("device_memory_usage_bytes", ColumnType::kInt64, kValue, events.device_memory_usage, &view_);
    AddColumn("self_device_memory_usage_bytes", ColumnType::kInt64, kValue, self_device_memory_usage_, &view_);
  }
  if (!events.flops.empty()) AddColumn("flops", ColumnType::kInt64, kValue, events.flops, &view_);
  AddColumn("sequence_nr", ColumnType::kInt64, kValue, sequence_, &view_);
  AddColumn("fwd_thread", ColumnType::kUint64, kValue, forward_thread_, &view_);
  AddColumn("scope", ColumnType::kUint8, kValue, scope_, &view_);
  AddColumn("is_async", ColumnType::kUint8, kValue, is_async_, &view_);
  AddColumn("is_user_annotation", ColumnType::kUint8, kValue, is_user_annotation_, &view_);
  AddColumn("is_python_function", ColumnType::kUint8, kValue, is_python_function_, &view_);
  AddColumn("span", ColumnType::kUint32, kHandle, events.span, &view_);
}

}  // namespace opscope
