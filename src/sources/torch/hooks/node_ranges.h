// Cheap names for the two ranges that autograd makes of each node that it runs: "autograd::engine::evaluate_function:
// AddBackward0" around the node, and "AddBackward0". Torch builds the outer name with a string stream and copies both:
// 2,000 instructions per node, half of what recording added to the training step of a small network. There are few
// different nodes, so each name is stored once, as that of a schema, and the range refers to the schema.
//
// Torch builds the outer name only if a callback watches the range. Therefore the hook returns to the engine a range
// that looks unwatched but has begun (Functions::BeginHidden, range_hooks.h). It must do so for the engine only, so it
// has to know the engine's call site. It learns it from the first range that torch itself has named: when that range
// ends, its name is compared with that of the current node.
//
// Thread rule: any thread, no lock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <atomic>
#include <string_view>

namespace opscope::range_hooks::node_ranges {

// The engine's call site: the return address of the constructor of its ranges. Null: not known yet.
extern std::atomic<const void*> engine __attribute__((visibility("hidden")));

inline bool IsEngine(const void* call_site) {
  return engine.load(std::memory_order_relaxed) == call_site;
}
inline bool IsEngineKnown() {
  return engine.load(std::memory_order_relaxed) != nullptr;
}

// Schemas with the names of the ranges; never destroyed. SchemaNamed: for a node's inner range. SchemaAroundNode: for
// the outer range of the node that the calling thread runs. Null: the table is full, memory ran out, or the thread runs
// no node.
const c10::FunctionSchema* SchemaNamed(std::string_view node);
const c10::FunctionSchema* SchemaAroundNode();

// Call these while the engine's call site is unknown: before a range is constructed, and before a named range ends.
void OnConstructed(const at::RecordFunction* range, const void* call_site);
void OnEnding(const at::RecordFunction& range);

}  // namespace opscope::range_hooks::node_ranges
