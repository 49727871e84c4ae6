// What tools other than Kineto mean by members of their Chrome traces, and which tool wrote a file.
//
//   ONNX Runtime  args "input_type_shape": [{"float": [1, 3, 8, 8]}, {"int64": [2]}]     an argument list
//   Paddle        args "input_shapes": {"X": [[2, 3]]}, "input_dtypes": {"X": ["FP32"]}  an argument list, and kept: it
//                 names the slots; "correlation id"                                       the correlation
//   MegEngine     args "shape": "{2,3}", "dtype": "Float32"                               likewise, of one tensor; what
//                 several events say together: megengine/timeline.h
//   JAX, XLA      args "step_num": "3"                                                    a step
//   MegEngine     "metadata": {"localTime": "1795216449185312847"}                        the base time
//   VizTracer     "viztracer_metadata": {"baseTimeNanoseconds": 1795223306178402185}      likewise
//
// Each event is understood by itself, so that it does not matter where a block of the file begins.
//
// Thread rule: pure functions; DetectChromeFormat one thread at a time per builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/text/json_scan.h"
#include "trace/builder.h"

namespace opscope {

// An argument list in the spelling of Kineto's "Input Dims" and "Input type"; false: `members` has none.
struct DialectLists {
  std::string dims, types;
};
bool ReadDialectLists(const std::vector<JsonMember>& members, DialectLists* lists);
// True for a member that ReadDialectLists turns into a list and that says nothing else.
bool IsOnlyDialectList(const JsonMember& member);

std::optional<int64_t> ReadStepNumber(std::string_view key, const std::vector<JsonMember>& members);
std::optional<int64_t> ReadBaseTime(std::string_view key, const JsonValue& metadata);

// The name of the format for TraceInfo, from the rows and the metadata: "paddle-json", "megengine-json",
// "onnxruntime-json", "viztracer-json", "xla-json", else "chrome-json". is_megengine: events show it.
std::string_view DetectChromeFormat(TraceBuilder* builder, bool is_megengine);

}  // namespace opscope
