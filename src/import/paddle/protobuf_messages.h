// The messages of Paddle's protobuf dump (paddle/fluid/platform/profiler/dump/nodetree.proto) as plain structs. For
// each message with values there is one function that fills the struct from the wire.
//
//   NodeTrees { version=1 span_index=2 thread_trees=3* extra_info=4* device_property=5* }
//   thread tree { thread_id=1 host_nodes=2* }
//   host node { id=1 parentid=2 host_trace_event=3 runtime_nodes=4* mem_nodes=5* op_supplement_nodes=6* }
//   runtime node { runtime_trace_event=1 device_nodes=2* }    device node { device_event=1 }
//
// Versions 1.0.0 to 1.0.2 differ by optional fields only. Types 15 and 16 are written by Paddle since 2.5 and refused
// by its own reader.
//
// Thread rule: pure functions; texts are valid as long as the file's bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "import/text/proto_reader.h"

namespace opscope {

// A call on the host, or a runtime call.
struct PaddleCall {
  std::string_view name;
  uint64_t type = 0;  // of host calls
  uint64_t start_ns = 0, end_ns = 0, process = 0, thread = 0;
  uint32_t correlation = 0;  // of runtime calls
  uint32_t callback = 0;     // of runtime calls
  uint32_t seen = 0;         // a bit per field
};

struct PaddleDeviceEvent {
  std::string_view name;
  uint64_t type = 0, start_ns = 0, end_ns = 0, device = 0, context = 0, stream = 0;
  uint32_t correlation = 0;
  uint32_t seen = 0;
  std::string detail;  // members of a JSON object, spelt as in Paddle's own JSON
};

struct PaddleMemoryMessage {
  uint64_t time_ns = 0, type = 0, address = 0, process = 0, thread = 0;
  int64_t increase_bytes = 0;
  std::string_view place;
  uint64_t current_allocated = 0, current_reserved = 0, peak_allocated = 0, peak_reserved = 0;
  uint32_t seen = 0;
};

// True if `seen` has the fields first to last.
constexpr bool HasFields(uint32_t seen, uint32_t first, uint32_t last) {
  const uint32_t wanted = ((2u << last) - 1) & ~((1u << first) - 1);
  return (seen & wanted) == wanted;
}

// The functions read to the end of the message. False: the message is damaged or truncated; the struct then has the
// part before the damage.
[[nodiscard]] bool ReadPaddleHostCall(ProtoReader* message, PaddleCall* call);
[[nodiscard]] bool ReadPaddleRuntimeCall(ProtoReader* message, PaddleCall* call);
[[nodiscard]] bool ReadPaddleDeviceEvent(ProtoReader* message, PaddleDeviceEvent* event);
[[nodiscard]] bool ReadPaddleMemoryMessage(ProtoReader* message, PaddleMemoryMessage* event);
// The shapes, types and stack of an operator: as JSON members by slot, and as lists over all inputs.
struct PaddleOperator {
  std::string members;
  std::string dims = "[", types = "[";  // "[[2, 3], [4]]" and "[\"FP32\", \"FP32\"]"
};
[[nodiscard]] bool ReadPaddleOperator(ProtoReader* message, PaddleOperator* op);

// A device, as an object of Paddle's JSON.
[[nodiscard]] bool ReadPaddleDeviceProperties(ProtoReader* message, std::string* json);

}  // namespace opscope
