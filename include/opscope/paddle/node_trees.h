// The trees in which Paddle has its events, of any Trace: one per thread, with the calls of Python and those below in
// one tree where a Trace has a track of each, the calls of a device's runtime beside the nodes, and what they launched
// and what was allocated at them. Paddle's statistics and its protobuf are walks over these.
//
//   host calls   nest by time: a call is inside another that it begins before the end of, unless it ends behind it and
//                less than a microsecond is common to both
//   runtime      belongs to the innermost host call that is around all of it, at last to the root
//   devices      belong to the runtime's call that launched them; what none launched is left out
//   memory       belongs to the innermost host call at its time, at last to the root
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "opscope/paddle/event_type.h"
#include "opscope/trace.h"

namespace opscope {

struct PaddleThread {
  uint64_t process = 0, thread = 0;  // numbers of the system
  uint32_t first_node = 0;           // the root
  uint32_t end_node = 0;
};

// What an allocator reported: a row of allocations, one of instants, or both (UINT32_MAX: not there).
struct PaddleMemoryRow {
  uint32_t allocation = UINT32_MAX;
  uint32_t instant = UINT32_MAX;
};

// Columns, no objects. Nodes of a thread lie in pre-order behind its root.
struct PaddleNodeTrees {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<PaddleThread> threads;  // by process and number
  std::vector<SpanId> span;           // kNone: a root
  std::vector<PaddleEventType> type;
  std::vector<int64_t> start;          // ns; of the span, or closer where a file says so in other words
  std::vector<uint32_t> parent;        // a node, kNone of a root
  std::vector<uint32_t> end;           // the node behind its last descendant
  std::vector<uint32_t> first_call;    // of runtime calls; one more than nodes
  std::vector<SpanId> call;            // by node, by start
  std::vector<uint32_t> first_device;  // of each call; one more than calls
  std::vector<SpanId> device;
  std::vector<uint32_t> first_memory;  // one more than nodes
  std::vector<PaddleMemoryRow> memory;

  size_t size() const { return span.size(); }
  bool is_root(size_t node) const { return span[node] == SpanId::kNone; }
  std::span<const SpanId> devices_of(size_t call_row) const {
    return std::span(device).subspan(first_device[call_row], first_device[call_row + 1] - first_device[call_row]);
  }
  std::span<const PaddleMemoryRow> memory_of(size_t node) const {
    return std::span(memory).subspan(first_memory[node], first_memory[node + 1] - first_memory[node]);
  }
};

// O(spans log spans), and linear where they stand in order, as they do in most traces.
[[nodiscard]] PaddleNodeTrees BuildPaddleNodeTrees(const Trace& trace);

}  // namespace opscope
