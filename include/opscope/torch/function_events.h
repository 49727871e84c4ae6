// torch's view of a Trace: the list behind `prof.events()` and the averages behind
// `prof.key_averages()`, in columns. Every time is the double that torch would
// hold, computed in torch's order of floating-point operations, so that printed
// digits agree. docs/reference/function_events.md has the rules.
//
//   const FunctionEvents events = BuildFunctionEvents(trace);
//   for (size_t i = 0; i < events.size(); ++i)
//     Print(NameText(trace, events, i), CpuTimeTotal(events, i));
//   const std::vector<FunctionEventAverage> averages = AverageFunctionEvents(trace, events);
//
// Thread rule: pure functions of an immutable Trace; results are plain values that
// refer to strings of the Trace, which must outlive them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/overhead.h"
#include "opscope/trace.h"

namespace opscope {

// Metadata of a Trace: the system's number of the thread that stopped the
// recording; absent: the main thread. torch attributes to that thread the device
// runtime calls that no operator made.
inline constexpr std::string_view kStoppingThreadKey = "opscope_stopping_thread";

// Index of an event in torch's list; kNone: no event.
enum class EventIndex : uint32_t { kNone = 0xffffffff };

namespace function_event_flags {
// is_async: outside of the tree.
inline constexpr uint8_t kAsync = 1;
// Runs on a device stream: device_type is not CPU.
inline constexpr uint8_t kDevice = 2;
// is_user_annotation.
inline constexpr uint8_t kUserAnnotation = 4;
// A "[memory]" row: an allocation, without a span; outside of every operator unless
// as_collected.
inline constexpr uint8_t kMemory = 8;
// A call of Python.
inline constexpr uint8_t kPythonFunction = 16;
// With kMemory: an "[OutOfMemory]" row, inside of an operator or not.
inline constexpr uint8_t kOutOfMemory = 32;
}  // namespace function_event_flags

// What the list contains.
struct FunctionEventOptions {
  // torch's trace_start_ns, the origin of start_us and end_us, as a Timestamp of
  // the Trace. Default: what the Trace says (docs/reference/function_events.md), else the first
  // start.
  std::optional<Timestamp> trace_start;
  // "cuda", "xpu", ...; "" for None. Default: "cuda" if the Trace has device
  // streams, else "".
  std::optional<std::string> use_device;
  // Count FLOPs only of the operators for which torch.profiler has a formula.
  bool only_torch_flops = false;
  // Build kineto_results.events() instead, from which torch makes events(): every
  // event, names as recorded, each allocation a kMemory row, nested calls of the
  // same name kept. `parent` and the children are those of torch's
  // experimental_event_tree(): the events open on the same thread.
  bool as_collected = false;
  // Leave out what was open at the end of the recording and began in nothing that
  // has ended: torch lists it from 2.12 on. Calls of Python end with the recording.
  bool only_finished = false;
  // List calls of Python, C functions and modules (with_stack): torch lists them
  // from 2.12 on. Before that only its experimental_event_tree() and its files have
  // them.
  bool python_functions = true;
  // Add up self times and totals as Python's sum() does from 3.12 on (compensated
  // summation).
  bool compensated_sums = false;
};

// One row per event, sorted by (start, -end), stable. Columns have size() entries
// unless noted. About 42 bytes per event; memory and device columns exist only if
// the Trace has such data.
struct FunctionEvents {
  // kNone for kMemory.
  std::vector<SpanId> span;
  // FunctionEvent.name, rewritten as torch does; read it with NameText.
  std::vector<StringId> name;
  // time_range.start and time_range.end, in microseconds.
  std::vector<double> start_us;
  std::vector<double> end_us;
  // cpu_parent.
  std::vector<EventIndex> parent;
  // cpu_children as a linked list: first_child, then next_sibling.
  std::vector<EventIndex> first_child;
  std::vector<EventIndex> next_sibling;
  // torch's logical thread number; the system's thread id if unknown.
  std::vector<uint32_t> thread;
  // function_event_flags.
  std::vector<uint8_t> flags;

  // The following columns are empty, or have one entry per event. kMemory: its row
  // of allocations(); kOutOfMemory: its row of instants(); else 0xffffffff.
  std::vector<uint32_t> allocation;
  // Bytes. Exists if the Trace has allocations, or failed requests.
  std::vector<int64_t> cpu_memory_usage;
  std::vector<int64_t> device_memory_usage;
  // Exists if use_device is set.
  std::vector<double> device_time_total_us;
  // size() + 1 entries: the events in kernels[kernel_offset[i] ..
  // kernel_offset[i+1]) belong to event i.
  std::vector<uint32_t> kernel_offset;
  // The device events behind FunctionEvent.kernels.
  std::vector<EventIndex> kernels;
  // Exists if the Trace was recorded with_flops.
  std::vector<int64_t> flops;
  // Cost of recording that CpuTimeTotal subtracts; made by CorrectFunctionEvents.
  std::vector<double> overhead_us;

  // Texts of the name ids from first_rewritten_name on.
  std::vector<std::string> rewritten_names;
  uint32_t first_rewritten_name = 0;
  // The trace_start in use.
  Timestamp trace_start;
  // The use_device in use; "" is None.
  std::string use_device;
  // Flags of the recording that table() needs, and the options in use.
  bool profile_memory = false;
  bool with_flops = false;
  bool only_torch_flops = false;
  bool compensated_sums = false;
  bool as_collected = false;
  bool only_finished = false;
  bool python_functions = true;

  size_t size() const { return span.size(); }
  bool empty() const { return span.empty(); }
};

// Builds the list. O(n) for one thread whose spans are in order, O(n log n) for
// several threads, allocations or device spans. If several operators share one
// External id, each of them gets every device event with that id, as in torch.
[[nodiscard]] FunctionEvents BuildFunctionEvents(const Trace& trace, const FunctionEventOptions& options = {});

// Subtracts the cost of recording from the CPU times: CpuTimeTotal and
// SelfCpuTimeTotal of a single event may then be negative; those of an average are
// not. start_us and end_us stay. `overhead` is of the same Trace.
Correction CorrectFunctionEvents(const SpanOverheads& overhead, FunctionEvents* events);

// FunctionEvent.name: demangled, `ProfilerStep#N` as `ProfilerStep*`.
[[nodiscard]] std::string_view NameText(const Trace& trace, const FunctionEvents& events, size_t i);

// Begin and end of an event for torch. A user annotation of a device
// (gpu_user_annotation) lasts from the begin of its first kernel to the end of its
// last; its span, as in Kineto's files, is 1 ns longer on both sides.
struct EventTimes {
  Timestamp start, end;
};
[[nodiscard]] EventTimes TimesOf(const Trace& trace, SpanId span);

// Attributes of FunctionEvent that torch computes. Times in microseconds. O(1)
// unless noted.
[[nodiscard]] double CpuTimeTotal(const FunctionEvents& events, size_t i);
// O(children), like all "Self" functions.
[[nodiscard]] double SelfCpuTimeTotal(const FunctionEvents& events, size_t i);
[[nodiscard]] double DeviceTimeTotal(const FunctionEvents& events, size_t i);
[[nodiscard]] double SelfDeviceTimeTotal(const FunctionEvents& events, size_t i);
// Bytes.
[[nodiscard]] int64_t SelfCpuMemoryUsage(const FunctionEvents& events, size_t i);
[[nodiscard]] int64_t SelfDeviceMemoryUsage(const FunctionEvents& events, size_t i);
// FunctionEvent.id.
[[nodiscard]] int64_t CorrelationId(const Trace& trace, const FunctionEvents& events, size_t i);
// FunctionEvent.linked_correlation_id: the id of the operator that launched it; 0:
// none.
[[nodiscard]] int64_t LinkedCorrelationId(const Trace& trace, const FunctionEvents& events, size_t i);
[[nodiscard]] ScopeType ScopeTypeOf(const Trace& trace, const FunctionEvents& events, size_t i);
// FunctionEvent.stack, innermost first: with torch's filter; a backward event has
// the stack of its forward event. The constructor builds an index in O(n).
class FunctionEventStacks {
 public:
  FunctionEventStacks(const Trace& trace, const FunctionEvents& events);
  // Events with the same id have the same stack. kNone: an empty one. O(1).
  StackId IdOf(size_t i) const { return stack_.empty() ? StackId::kNone : stack_[i]; }
  // The frames of a stack. O(frames).
  std::vector<std::string_view> Frames(StackId id) const;
  std::vector<std::string_view> Of(size_t i) const { return Frames(IdOf(i)); }

 private:
  const Trace* trace_;
  // Empty if the Trace has no stacks.
  std::vector<StackId> stack_;
  std::vector<uint8_t> is_shown_;  // by FrameId
};

// str(FunctionEvent.input_shapes): "[[5, 3, 224, 224], [], []]"; "[]" without
// shapes. Depends only on the argument list: cache it by ArgsId.
[[nodiscard]] std::string InputShapesText(const Trace& trace, ArgsId args);

// EventList.self_cpu_time_total, in microseconds. O(n).
[[nodiscard]] double SelfCpuTimeTotalOfAll(const FunctionEvents& events);

// A FunctionEventAvg: the sums over all events of one group.
struct FunctionEventAverage {
  // Its key; read it with NameText(events.., first). "Total" for TotalAverage.
  StringId name = StringId::kEmpty;
  // The first event of the group: the source of node_id, is_async, cpu_parent,
  // scope, stack, ...
  EventIndex first = EventIndex::kNone;
  // "" unless grouped by it.
  std::string input_shapes;
  // "" unless grouped by it.
  std::string overload_name;
  // The first n frames if grouped by stack.
  std::vector<std::string_view> stack;
  // Number of events.
  int64_t count = 0;
  double cpu_time_total_us = 0;
  double self_cpu_time_total_us = 0;
  double device_time_total_us = 0;
  double self_device_time_total_us = 0;
  // Bytes.
  int64_t cpu_memory_usage = 0;
  int64_t self_cpu_memory_usage = 0;
  int64_t device_memory_usage = 0;
  int64_t self_device_memory_usage = 0;
  int64_t flops = 0;

  // Means per event.
  double cpu_time_us() const { return count == 0 ? 0 : cpu_time_total_us / static_cast<double>(count); }
  double device_time_us() const { return count == 0 ? 0 : device_time_total_us / static_cast<double>(count); }
};

// Arguments of key_averages().
struct AverageOptions {
  bool group_by_input_shape = false;
  int group_by_stack_n = 0;
  bool group_by_overload_name = false;
  // torch has this argument from 2.14 on, and there it is false by default.
  bool include_python_functions = true;
};

// EventList.key_averages(): one row per group, in order of first appearance. O(n),
// plus the texts of each distinct argument list or stack it groups by.
[[nodiscard]] std::vector<FunctionEventAverage> AverageFunctionEvents(const Trace& trace, const FunctionEvents& events,
                                                                      const AverageOptions& options = {});

// EventList.total_average(): one row with key "Total". O(n).
[[nodiscard]] FunctionEventAverage TotalAverage(const Trace& trace, const FunctionEvents& events);

}  // namespace opscope
