// key_averages() and total_average(). Sums are taken in the order of the list, because torch adds doubles in that order
// and a sum on a rounding tie would print another digit in another order.
//
// A group key is a few small integers. Texts (shapes, the first n frames) are rendered once per distinct argument list
// or stack and interned, so an event costs look-ups only; torch builds tuples of Python strings per event.
// SPDX-License-Identifier: Apache-2.0
#include <tsl/robin_map.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/saturating.h"
#include "opscope/torch/function_events.h"

namespace opscope {
namespace {

constexpr uint32_t kNoGroup = 0xffffffff;

struct GroupId {
  uint64_t name_and_kind;
  uint32_t shapes;
  uint32_t overload;
  uint32_t stack;
  bool operator==(const GroupId&) const = default;
};
struct GroupIdHash {
  size_t operator()(const GroupId& key) const {
    uint64_t h = key.name_and_kind * 0x9e3779b97f4a7c15u;
    h = (h ^ (uint64_t{key.shapes} << 32 | key.overload)) * 0xbf58476d1ce4e5b9u;
    return (h ^ (h >> 31) ^ key.stack) * 0x94d049bb133111ebu;
  }
};

// Name, device_type and is_user_annotation. torch also compares node_id and is_legacy, which never differ.
uint64_t NameAndKind(const FunctionEvents& events, size_t i) {
  constexpr uint8_t kKind = function_event_flags::kDevice | function_event_flags::kUserAnnotation;
  return uint64_t{Row(events.name[i])} << 8 | (events.flags[i] & kKind);
}

class GroupFinder {
 public:
  GroupFinder(const Trace& trace, const FunctionEvents& events, const AverageOptions& options)
      : trace_(trace), events_(events), options_(options) {
    if (options.group_by_input_shape) shapes_of_args_.assign(trace.argument_list_count(), kNoGroup);
    if (options.group_by_stack_n > 0) {
      stacks_.emplace(trace, events);
      group_of_stack_.assign(trace.stacks().size() + 1, kNoGroup);
    }
  }

  // The row of event i; a new group gets the number of rows so far.
  uint32_t Find(size_t i) {
    const GroupId id = {NameAndKind(events_, i), Shapes(i), Overload(i), Stack(i)};
    return rows_.try_emplace(id, static_cast<uint32_t>(rows_.size())).first->second;
  }

  void Describe(size_t i, FunctionEventAverage* row) {
    if (options_.group_by_input_shape) row->input_shapes = InputShapesText(trace_, Args(i));
    if (options_.group_by_overload_name && events_.span[i] != SpanId::kNone)
      row->overload_name = trace_.text(trace_.spans().overload[Row(events_.span[i])]);
    if (stacks_) row->stack = FirstFrames(*stacks_, i);
  }

 private:
  ArgsId Args(size_t i) const {
    return events_.span[i] == SpanId::kNone ? ArgsId::kNone : trace_.spans().args[Row(events_.span[i])];
  }
  uint32_t Intern(std::string text) {
    return texts_.try_emplace(std::move(text), static_cast<uint32_t>(texts_.size())).first->second;
  }
  uint32_t Shapes(size_t i) {
    if (!options_.group_by_input_shape) return 0;
    const ArgsId args = Args(i);
    if (args == ArgsId::kNone) return Intern("[]");
    uint32_t& shapes = shapes_of_args_[Row(args)];
    if (shapes == kNoGroup) shapes = Intern(InputShapesText(trace_, args));
    return shapes;
  }
  uint32_t Overload(size_t i) const {
    if (!options_.group_by_overload_name || events_.span[i] == SpanId::kNone) return 0;
    const StringId overload = trace_.spans().overload[Row(events_.span[i])];
    return overload == StringId::kNone ? 0 : Row(overload);
  }
  std::vector<std::string_view> FirstFrames(const FunctionEventStacks& stacks, size_t i) const {
    std::vector<std::string_view> frames = stacks.Of(i);
    const auto n = static_cast<size_t>(options_.group_by_stack_n);
    if (frames.size() > n) frames.resize(n);
    return frames;
  }
  uint32_t Stack(size_t i) {
    if (!stacks_) return 0;
    uint32_t& group = group_of_stack_[Row(stacks_->IdOf(i)) + 1];  // index 0 is kNone
    if (group == kNoGroup) group = GroupOfFrames(*stacks_, i);
    return group;
  }
  uint32_t GroupOfFrames(const FunctionEventStacks& stacks, size_t i) {
    std::string text;
    for (std::string_view frame : FirstFrames(stacks, i)) {
      text += frame;
      text += '\0';
    }
    return Intern(std::move(text));
  }

  const Trace& trace_;
  const FunctionEvents& events_;
  const AverageOptions& options_;
  std::optional<FunctionEventStacks> stacks_;
  std::vector<uint32_t> shapes_of_args_;
  std::vector<uint32_t> group_of_stack_;
  std::unordered_map<std::string, uint32_t> texts_;
  tsl::robin_map<GroupId, uint32_t, GroupIdHash> rows_;
};

void Add(const FunctionEvents& events, size_t i, FunctionEventAverage* row) {
  row->cpu_time_total_us += CpuTimeTotal(events, i);
  row->self_cpu_time_total_us += SelfCpuTimeTotal(events, i);
  if (!events.device_time_total_us.empty()) {
    row->device_time_total_us += DeviceTimeTotal(events, i);
    row->self_device_time_total_us += SelfDeviceTimeTotal(events, i);
  }
  if (!events.cpu_memory_usage.empty()) {
    row->cpu_memory_usage = SaturatingAdd(row->cpu_memory_usage, events.cpu_memory_usage[i]);
    row->device_memory_usage = SaturatingAdd(row->device_memory_usage, events.device_memory_usage[i]);
    row->self_cpu_memory_usage = SaturatingAdd(row->self_cpu_memory_usage, SelfCpuMemoryUsage(events, i));
    row->self_device_memory_usage = SaturatingAdd(row->self_device_memory_usage, SelfDeviceMemoryUsage(events, i));
  }
  if (!events.flops.empty()) row->flops = SaturatingAdd(row->flops, events.flops[i]);
  ++row->count;
}

// Corrected times are estimates; a sum below 0 becomes 0.
void ClampToZero(const FunctionEvents& events, FunctionEventAverage* row) {
  if (events.overhead_us.empty()) return;
  row->cpu_time_total_us = std::max(row->cpu_time_total_us, 0.0);
  row->self_cpu_time_total_us = std::max(row->self_cpu_time_total_us, 0.0);
}

}  // namespace

std::vector<FunctionEventAverage> AverageFunctionEvents(const Trace& trace, const FunctionEvents& events,
                                                        const AverageOptions& options) {
  std::vector<FunctionEventAverage> rows;
  GroupFinder finder(trace, events, options);
  const uint8_t left_out = options.include_python_functions ? 0 : function_event_flags::kPythonFunction;
  for (size_t i = 0; i < events.size(); ++i) {
    if ((events.flags[i] & left_out) != 0) continue;
    const uint32_t group = finder.Find(i);
    if (group == rows.size()) {
      FunctionEventAverage& row = rows.emplace_back();
      row.name = events.name[i];
      row.first = EventIndex{static_cast<uint32_t>(i)};
      finder.Describe(i, &row);
    }
    Add(events, i, &rows[group]);
  }
  for (FunctionEventAverage& row : rows)
    ClampToZero(events, &row);
  return rows;
}

FunctionEventAverage TotalAverage(const Trace& trace, const FunctionEvents& events) {
  FunctionEventAverage total;
  if (events.empty()) return total;
  // The last event supplies the key and other attributes, because torch resets the key at every addition.
  total.first = EventIndex{static_cast<uint32_t>(events.size() - 1)};
  total.input_shapes =
      events.span.back() == SpanId::kNone ? "[]" : InputShapesText(trace, trace.spans().args[Row(events.span.back())]);
  for (size_t i = 0; i < events.size(); ++i)
    Add(events, i, &total);
  ClampToZero(events, &total);
  return total;
}

}  // namespace opscope
