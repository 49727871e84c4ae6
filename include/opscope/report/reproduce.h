// The Python program that runs one recorded call of an operator again and times it.
//
//   const Result<RecordedCall> call = ChooseCall(trace, &selected);
//   const Result<std::string> script = ReproduceScript(trace, call.value(), "run.opscope");
//   if (script.ok()) WriteText("repro.py", script.value());
//
// No text of the trace becomes code: names are checked to be identifiers, values are
// parsed and written anew as literals, and what comments show is printable ASCII.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "opscope/analysis/reproduce.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// The program. `file`: name of the input, for the comment at its top; "": unknown. `trace`: the one
// that the call was chosen from. kUnsupported: the call cannot be made again, because
// shapes were not recorded, or a tensor has a layout or a type that the program cannot
// make; the message says which. O(size of the arguments).
[[nodiscard]] Result<std::string> ReproduceScript(const Trace& trace, const RecordedCall& call, std::string_view file);

// How many further groups the condition chose, and how to choose one of them: one
// sentence; "" if it chose no further one.
[[nodiscard]] std::string DescribeOtherCalls(const Trace& trace, const RecordedCall& call);

}  // namespace opscope
