// Reads from a Trace what Paddle's files contain beside times and names. Numbers that a Trace lacks are 0.
//
// Thread rule: pure functions. O(bytes of the members) per call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/export_output.h"
#include "opscope/paddle/node_trees.h"
#include "opscope/trace.h"

namespace opscope {

// Facts about the whole run.
struct PaddleRunFacts {
  std::string version = "1.0.2";
  uint64_t span_index = 0;
  std::vector<std::pair<std::string, std::string>> extra_info;  // CPU utilization, names of threads
  struct Device {
    std::string name;
    std::array<uint64_t, 16> numbers = {};  // by field number of kPaddleDeviceProperties
  };
  std::vector<Device> devices;
  uint64_t epoch_ns = 0;  // unix time of Timestamp 0

  uint64_t UnixTime(int64_t ns) const {
    const int64_t time = static_cast<int64_t>(epoch_ns + static_cast<uint64_t>(ns));
    return time < 0 ? 0 : static_cast<uint64_t>(time);
  }
};
[[nodiscard]] PaddleRunFacts ReadPaddleRunFacts(const Trace& trace);

// Facts about a device event; sizes in bytes.
struct PaddleDeviceFacts {
  uint64_t device = 0, context = 0, stream = 0;
  std::array<uint64_t, 3> block = {}, grid = {};
  uint64_t shared_memory = 0, dynamic_shared_memory = 0;  // shared_memory includes the dynamic part
  uint64_t registers = 0, local_memory = 0, local_memory_total = 0;
  uint64_t queued = 0, submitted = 0, completed = 0;
  float blocks_per_sm = 0, warps_per_sm = 0, occupancy = 0;
  uint64_t bytes = 0, value = 0;
  std::string copy_kind, source_kind, destination_kind, memory_kind;
};
[[nodiscard]] PaddleDeviceFacts ReadPaddleDeviceFacts(const Trace& trace, size_t span);

// One named argument of an operator, with a shape and a type per tensor.
struct PaddleSlot {
  std::string name;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::string> types;
};
struct PaddleOperatorFacts {
  bool any = false;
  std::vector<PaddleSlot> shapes, types;  // two lists: an argument may be in only one of them
  std::string call_stack, op_type;
  uint64_t op_id = 0;
};
[[nodiscard]] PaddleOperatorFacts ReadPaddleOperatorFacts(std::string_view members);

// Reports to `out` the rows of a Trace that Paddle's files cannot hold.
void LeaveOutOfPaddle(const Trace& trace, const PaddleNodeTrees& trees, ExportOutput* out);

// Decodes a JSON string with its quotes; returns any other text unchanged.
[[nodiscard]] std::string TextOfJson(std::string_view json);

}  // namespace opscope
