// Metadata of a window that the importer understands: what a source, or the code that
// opened the window, says about the recording as a whole. Other metadata becomes that
// of the Trace as it is.
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace opscope {

// A number, what the failures() of its sources (source.h) grew by. Import makes it
// a Problem of kind source_failure.
inline constexpr std::string_view kSourceFailuresKey = "opscope.source_failures";
// Likewise, threads and parts that a source could not see: Problems of kinds
// calls_unseen, idle_threads, part_left_out.
inline constexpr std::string_view kCallsUnseenKey = "opscope.calls_unseen";
inline constexpr std::string_view kIdleThreadsKey = "opscope.idle_threads";
inline constexpr std::string_view kPartsLeftOutKey = "opscope.parts_left_out";
// A 1: the window recorded operators of chosen threads alone, and others ran
// meanwhile. Where it has no operator, import makes it a Problem of kind
// operators_elsewhere.
inline constexpr std::string_view kOthersRanKey = "opscope.other_threads_ran";
// A 1: spans have the calls of Python around them as their stacks (torch's
// `verbose`).
inline constexpr std::string_view kCallStacksKey = "opscope.call_stacks";
// A 1: steps begin in the call of Python that ends them (torch's
// `adjust_profiler_step`).
inline constexpr std::string_view kAdjustStepsKey = "opscope.adjust_steps";
// A text: the argument kinds of every operator that was recorded with kTensors in
// this process, "NAME SIGNATURE...;NAME ..." (OperatorColumns in trace.h). Import
// makes it rows of Trace::operators.
inline constexpr std::string_view kOperatorsKey = "opscope.operators";
// A number: torch's spans are numbered from it, so that no two recordings of a
// process share a number.
inline constexpr std::string_view kFirstEventIdKey = "opscope.first_event_id";
// `false`: torch's switch for arrows from forward to backward was off when the
// recording ended.
inline constexpr std::string_view kForwardBackwardKey = "opscope.forward_backward";
// A text, how operators were recorded. Import makes it the option `torch_route`.
inline constexpr std::string_view kTorchCaptureModeKey = "opscope.torch_route";
// Likewise; import makes it the option `paddle_route`.
inline constexpr std::string_view kPaddleCaptureModeKey = "opscope.paddle_route";
// Five numbers: ticks, and what the CPU's allocator held then in bytes: allocated,
// reserved, and the highest that both have been. Totals of kHostBlock records count
// from there.
inline constexpr std::string_view kHostMemoryKey = "opscope.host_memory";

// An array of arrays [kind, severity, count, text]: problems
// (src/trace/problem_kinds.h) that the source of a device has seen. Import makes
// them rows; text, where it is not "", is added to the sentence.
inline constexpr std::string_view kDeviceProblemsKey = "opscope.device_problems";
// A 1: device rows use the names of Paddle's files.
inline constexpr std::string_view kPaddleDevicesKey = "opscope.paddle_devices";
// An object: what the program calls nodes of CUDA's graphs, by their numbers:
// {"4294967297":"\"phase\": \"A\""}. The texts are members of the "args" of what
// the nodes do.
inline constexpr std::string_view kGraphNodesKey = "opscope.graph_nodes";
// Of the Trace: by how many nanoseconds times of a device may differ from those of
// the threads.
inline constexpr std::string_view kCudaClockBoundKey = "opscope_cuda_clock_bound_ns";

}  // namespace opscope
