// The event trees that Paddle builds, for any Trace: one per thread. Calls of
// Python and those below them are one tree even if the Trace has a track for each.
// Each node has its device runtime calls, the device spans they launched, and its
// memory events. Paddle's statistics and its protobuf are walks over these trees.
//
//   host calls   nest by time: a call is inside another one that is open when it begins, unless it ends
//                after it and the two share less than a microsecond
//   runtime      belongs to the innermost host call around all of it, else to the root
//   devices      belong to the runtime call that launched them; those without one are left out
//   memory       belongs to the innermost host call at its time, else to the root
//
//   const PaddleNodeTrees trees = BuildPaddleNodeTrees(trace);
//   for (uint32_t node = 0; node < trees.size(); node = trees.end[node]) Visit(node);   // the roots
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

// The tree of one thread.
struct PaddleThread {
  // The system's process and thread ids.
  uint64_t process = 0, thread = 0;
  // Its root; the nodes are [first_node, end_node).
  uint32_t first_node = 0;
  uint32_t end_node = 0;
};

// A report of an allocator: a row of allocations, of instants, or of both.
// UINT32_MAX: no row.
struct PaddleMemoryRow {
  uint32_t allocation = UINT32_MAX;
  uint32_t instant = UINT32_MAX;
};

// All trees as columns. The nodes of a thread follow its root in pre-order.
struct PaddleNodeTrees {
  // No node.
  static constexpr uint32_t kNone = UINT32_MAX;

  // By process and thread id.
  std::vector<PaddleThread> threads;
  // kNone: a root.
  std::vector<SpanId> span;
  std::vector<PaddleEventType> type;
  // Nanoseconds; the span's start, or a more exact value if the input has one.
  std::vector<int64_t> start;
  // A node; kNone for a root.
  std::vector<uint32_t> parent;
  // The node behind its last descendant.
  std::vector<uint32_t> end;
  // size() + 1 entries: node i has the runtime calls [first_call[i], first_call[i +
  // 1]) of `call`.
  std::vector<uint32_t> first_call;
  // Runtime calls by node, then by start.
  std::vector<SpanId> call;
  // call.size() + 1 entries: call i launched [first_device[i], first_device[i + 1])
  // of `device`.
  std::vector<uint32_t> first_device;
  std::vector<SpanId> device;
  // size() + 1 entries: node i has the rows [first_memory[i], first_memory[i + 1])
  // of `memory`.
  std::vector<uint32_t> first_memory;
  std::vector<PaddleMemoryRow> memory;

  size_t size() const { return span.size(); }
  bool is_root(size_t node) const { return span[node] == SpanId::kNone; }
  // Device spans that a runtime call launched. REQUIRES: call_row < call.size()
  std::span<const SpanId> devices_of(size_t call_row) const {
    return std::span(device).subspan(first_device[call_row], first_device[call_row + 1] - first_device[call_row]);
  }
  // Memory events of a node. REQUIRES: node < size()
  std::span<const PaddleMemoryRow> memory_of(size_t node) const {
    return std::span(memory).subspan(first_memory[node], first_memory[node + 1] - first_memory[node]);
  }
};

// O(spans) if they stand in order, as in most traces, else O(spans log spans). Plus,
// per runtime call and memory event, the nodes around it that begin at its time or
// end before it.
[[nodiscard]] PaddleNodeTrees BuildPaddleNodeTrees(const Trace& trace);

}  // namespace opscope
