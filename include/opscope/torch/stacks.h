// The file of torch's EventList.export_stacks(), the input of flamegraph.pl. It is
// written beside its final name and renamed; kIo errors name the path.
//
//   const FunctionEvents events = BuildFunctionEvents(trace);
//   OPSCOPE_TRY(ExportTorchStacks(trace, events, StackMetric::kSelfCpuTime, "stacks.txt"));
//
//   train.py(12):_train;net.py(3):_forward 1532
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

// What the numbers of the file mean, in whole microseconds.
enum class StackMetric : uint8_t { kSelfCpuTime, kSelfDeviceTime };

// One line per event with a stack and at least one microsecond, in order: its
// frames from the outermost on, joined by ';', then the number. Blanks, semicolons
// and newlines in a frame become '_'. O(events + bytes of the file). kIo, kNotFound:
// the system refused.
[[nodiscard]] Status ExportTorchStacks(const Trace& trace, const FunctionEvents& events, StackMetric metric,
                                       const std::string& path);

}  // namespace opscope
