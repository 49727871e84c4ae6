// torch's view of a Trace: the list behind `prof.events()` and the averages behind
// `prof.key_averages()`, in columns. Every time is the double that torch would hold, computed in
// torch's order of floating-point operations, so printed digits are the same.
// The rules are in docs/analyses.md ("Function events").
//
// Thread rule: pure functions of an immutable Trace; results are plain values that refer to strings
// of the Trace, which must outlive them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/own_cost.h"
#include "opscope/trace.h"

namespace opscope {

// Metadata of a Trace: the system's number of the thread that stopped the recording. Absent: the main thread. Torch
// gives that thread the calls of a device's runtime that no op made.
inline constexpr std::string_view kStoppingThreadKey = "opscope_stopping_thread";

// Index of an event in torch's list; kNone: no event.
enum class EventIndex : uint32_t { kNone = 0xffffffff };

namespace function_event_flags {
inline constexpr uint8_t kAsync = 1;           // is_async: outside the tree
inline constexpr uint8_t kDevice = 2;          // runs on a device stream: device_type is not CPU
inline constexpr uint8_t kUserAnnotation = 4;  // is_user_annotation
inline constexpr uint8_t kMemory =
    8;  // a "[memory]" row: an allocation (outside every op unless as_collected); no span
inline constexpr uint8_t kPythonFunction = 16;
inline constexpr uint8_t kOutOfMemory = 32;  // kMemory, too: an "[OutOfMemory]" row, wherever it is
}  // namespace function_event_flags

struct FunctionEventOptions {
  // torch's trace_start_ns, from which start_us and end_us count, as a Timestamp of the Trace.
  // Default: what the Trace tells (docs/analyses.md), else the first start.
  std::optional<Timestamp> trace_start;
  // "cuda", "xpu", ...; "" for None. Default: "cuda" when the Trace has device streams, else "".
  std::optional<std::string> use_device;
  // FLOPs of the ops that torch.profiler has a formula for, and of no other.
  bool only_torch_flops = false;
  // Not torch's list of events() but the one that it is made of, kineto_results.events(): every event, names as they
  // were recorded, each allocation a kMemory row, calls within calls of the same name as they are. `parent` and the
  // children are those of torch's experimental_event_tree(): what was open on the event's thread when it began.
  bool as_collected = false;
  // Nothing that was still open at the end of the recording and began in nothing that has ended: torch lists it from
  // 2.12 on. Calls of Python end with the recording.
  bool only_finished = false;
  // Calls of Python, C functions and modules (with_stack) are in the list. torch lists them from 2.12 on; before that
  // its experimental_event_tree() and its files alone have them.
  bool python_functions = true;
  // Self times and totals add up as Python's sum() does from 3.12 on, which keeps the digits that rounding cuts off.
  bool compensated_sums = false;
};

// One row per event, sorted by (start, -end), stable. All columns have size() entries unless noted.
// About 42 bytes per event; memory and device columns exist only where the Trace has such data.
struct FunctionEvents {
  std::vector<SpanId> span;             // kNone for kMemory
  std::vector<StringId> name;           // FunctionEvent.name (rewritten): read it with NameText
  std::vector<double> start_us;         // time_range.start
  std::vector<double> end_us;           // time_range.end
  std::vector<EventIndex> parent;       // cpu_parent
  std::vector<EventIndex> first_child;  // cpu_children: first_child, then next_sibling, ...
  std::vector<EventIndex> next_sibling;
  std::vector<uint32_t> thread;  // torch's logical thread number; the OS thread id where unknown
  std::vector<uint8_t> flags;    // function_event_flags

  // Empty, or one entry per event.
  // kMemory: its row of allocations(); kOutOfMemory: of instants(); else 0xffffffff.
  std::vector<uint32_t> allocation;
  std::vector<int64_t> cpu_memory_usage;  // bytes; exists when the Trace has allocations, or requests without memory
  std::vector<int64_t> device_memory_usage;
  std::vector<double> device_time_total_us;  // exists when use_device is set
  std::vector<uint32_t> kernel_offset;       // size()+1 entries: kernels[kernel_offset[i] .. kernel_offset[i+1])
  std::vector<EventIndex> kernels;           // the device events behind FunctionEvent.kernels
  std::vector<int64_t> flops;                // exists when the Trace was recorded with_flops
  std::vector<double> own_cost_us;           // made by CorrectFunctionEvents: what CpuTimeTotal is without

  std::vector<std::string> rewritten_names;  // texts of name ids >= first_rewritten_name
  uint32_t first_rewritten_name = 0;
  Timestamp trace_start;        // that was used
  std::string use_device;       // "" is None
  bool profile_memory = false;  // as recorded: what table() needs to know
  bool with_flops = false;
  bool only_torch_flops = false;
  bool compensated_sums = false;
  bool as_collected = false;
  bool only_finished = false;
  bool python_functions = true;

  size_t size() const { return span.size(); }
  bool empty() const { return span.empty(); }
};

// O(n) for one thread, O(n log n) for several.
[[nodiscard]] FunctionEvents BuildFunctionEvents(const Trace& trace, const FunctionEventOptions& options = {});

// Takes what recording took off the CPU times: from here on CpuTimeTotal and SelfCpuTimeTotal of an event may be below
// 0, those of an average are not. start_us and end_us stay. `own_cost` is of the same Trace.
Correction CorrectFunctionEvents(const OwnCostOfSpans& own_cost, FunctionEvents* events);

// FunctionEvent.name: demangled, `ProfilerStep#N` as `ProfilerStep*`.
[[nodiscard]] std::string_view NameText(const Trace& trace, const FunctionEvents& events, size_t i);

// When an event began and ended for torch. A range of a device (gpu_user_annotation) lasts from the begin of its first
// work to the end of its last; the span, as in Kineto's files, is 1 ns longer on both sides.
struct EventTimes {
  Timestamp start, end;
};
[[nodiscard]] EventTimes TimesOf(const Trace& trace, SpanId span);

// FunctionEvent attributes that are computed, as in torch. O(1) unless noted.
[[nodiscard]] double CpuTimeTotal(const FunctionEvents& events, size_t i);
[[nodiscard]] double SelfCpuTimeTotal(const FunctionEvents& events, size_t i);  // O(children)
[[nodiscard]] double DeviceTimeTotal(const FunctionEvents& events, size_t i);
[[nodiscard]] double SelfDeviceTimeTotal(const FunctionEvents& events, size_t i);                 // O(children)
[[nodiscard]] int64_t SelfCpuMemoryUsage(const FunctionEvents& events, size_t i);                 // O(children)
[[nodiscard]] int64_t SelfDeviceMemoryUsage(const FunctionEvents& events, size_t i);              // O(children)
[[nodiscard]] int64_t CorrelationId(const Trace& trace, const FunctionEvents& events, size_t i);  // FunctionEvent.id
// FunctionEvent.linked_correlation_id: the id of the op that launched it, 0: none.
[[nodiscard]] int64_t LinkedCorrelationId(const Trace& trace, const FunctionEvents& events, size_t i);
[[nodiscard]] ScopeType ScopeTypeOf(const Trace& trace, const FunctionEvents& events, size_t i);
// FunctionEvent.stack, innermost first: torch's filter applied; a backward event has the stack of its
// forward event. Builds an index on construction (O(n) once), then O(stack).
class FunctionEventStacks {
 public:
  FunctionEventStacks(const Trace& trace, const FunctionEvents& events);
  // Events with the same id have the same stack. kNone: an empty one.
  StackId IdOf(size_t i) const { return stack_.empty() ? StackId::kNone : stack_[i]; }
  std::vector<std::string_view> Frames(StackId id) const;
  std::vector<std::string_view> Of(size_t i) const { return Frames(IdOf(i)); }

 private:
  const Trace* trace_;
  std::vector<StackId> stack_;     // empty when the Trace has no stacks
  std::vector<uint8_t> is_shown_;  // by FrameId
};

// str(FunctionEvent.input_shapes): "[[5, 3, 224, 224], [], []]"; "[]" without shapes. Depends only on
// the argument list, so cache by ArgsId.
[[nodiscard]] std::string InputShapesText(const Trace& trace, ArgsId args);

// EventList.self_cpu_time_total.
[[nodiscard]] double SelfCpuTimeTotalOfAll(const FunctionEvents& events);

// A FunctionEventAvg.
struct FunctionEventAverage {
  StringId name = StringId::kEmpty;      // key; read it with NameText(events.., first), "Total" for the total
  EventIndex first = EventIndex::kNone;  // the first event: node_id, is_async, cpu_parent, scope, stack, ... are its
  std::string input_shapes;              // text; "" unless grouped by it
  std::string overload_name;             // "" unless grouped by it
  std::vector<std::string_view> stack;   // the first n entries when grouped by stack
  int64_t count = 0;
  double cpu_time_total_us = 0;
  double self_cpu_time_total_us = 0;
  double device_time_total_us = 0;
  double self_device_time_total_us = 0;
  int64_t cpu_memory_usage = 0;
  int64_t self_cpu_memory_usage = 0;
  int64_t device_memory_usage = 0;
  int64_t self_device_memory_usage = 0;
  int64_t flops = 0;

  double cpu_time_us() const { return count == 0 ? 0 : cpu_time_total_us / static_cast<double>(count); }
  double device_time_us() const { return count == 0 ? 0 : device_time_total_us / static_cast<double>(count); }
};

struct AverageOptions {
  bool group_by_input_shape = false;
  int group_by_stack_n = 0;
  bool group_by_overload_name = false;
  bool include_python_functions = true;  // of torch: the argument is there, and false by default, from 2.14 on
};

// EventList.key_averages(): rows in order of first appearance. O(n).
[[nodiscard]] std::vector<FunctionEventAverage> AverageFunctionEvents(const Trace& trace, const FunctionEvents& events,
                                                                      const AverageOptions& options = {});

// EventList.total_average(): one row with key "Total".
[[nodiscard]] FunctionEventAverage TotalAverage(const Trace& trace, const FunctionEvents& events);

}  // namespace opscope
