// The two ranges that autograd makes of each node that it runs, without what torch spends on their names: "autograd::
// engine::evaluate_function: AddBackward0" around it, of which a string stream makes the text, and "AddBackward0";
// copies of both, and room for them. That was 2,000 instructions per node, half of what recording added to the training
// step of a small network. Names of nodes are few: each is kept as that of a schema, and the range has the schema.
//
// Torch makes the text of the outer one where it sees a range that somebody watches. So the engine is given one that
// says it is not watched, and which has begun all the same (Functions::ConstructScope, range_hooks.h). The place in
// torch's code that makes it is learnt from a range there which torch has named: its text is looked at once, when it
// ends.
//
// Thread rule: any thread, no lock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <atomic>
#include <string_view>

namespace opscope::drop_in::node_ranges {

// What the constructor of the engine's ranges returns to; null: not learnt yet.
extern std::atomic<const void*> engine __attribute__((visibility("hidden")));

inline bool IsEngine(const void* place) {
  return engine.load(std::memory_order_relaxed) == place;
}
inline bool IsEngineKnown() {
  return engine.load(std::memory_order_relaxed) != nullptr;
}

// Their names are the ranges'; never destroyed, of any number of arguments. Null: there are too many names, or memory
// is short. Of the inner one of a node, and of the outer one of the node that the calling thread runs (null, too:
// none).
const c10::FunctionSchema* SchemaNamed(std::string_view node);
const c10::FunctionSchema* SchemaAroundNode();

// While the engine is not known: a range is about to be made there, and one that torch has named ends.
void NoteConstructed(const at::RecordFunction* range, const void* place);
void NoteEnding(const at::RecordFunction& range);

}  // namespace opscope::drop_in::node_ranges
