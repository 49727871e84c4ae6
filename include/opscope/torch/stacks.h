// The file of EventList.export_stacks(). It is written beside the final name and renamed; kIo errors name the path.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "opscope/result.h"
#include "opscope/torch/function_events.h"
#include "opscope/trace.h"

namespace opscope {

// What a line of ExportTorchStacks counts, in whole microseconds.
enum class StackMetric : uint8_t { kSelfCpuTime, kSelfDeviceTime };

// EventList.export_stacks(): for every event that has a stack and at least a microsecond, in order, its frames from the
// outermost on, joined by ';', and the number: the input of flamegraph.pl. Blanks, semicolons and line ends in a frame
// become '_'.
[[nodiscard]] Status ExportTorchStacks(const Trace& trace, const FunctionEvents& events, StackMetric metric,
                                       const std::string& path);

}  // namespace opscope
