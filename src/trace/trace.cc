// The public, read-only face of the store.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/trace.h"

#include "trace/storage.h"

namespace opscope {

Trace::Trace() {
  auto storage = std::make_unique<TraceStorage>();
  storage->Freeze();
  storage_ = std::move(storage);
}
Trace::Trace(std::unique_ptr<const TraceStorage> storage) : storage_(std::move(storage)) {
}
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

const TraceInfo& Trace::info() const {
  return storage_->info;
}
std::string_view Trace::text(StringId id) const {
  return storage_->strings.text(id);
}
std::optional<StringId> Trace::FindString(std::string_view text) const {
  return storage_->strings.Find(text);
}
size_t Trace::string_count() const {
  return storage_->strings.size();
}

const ProcessColumns& Trace::processes() const {
  return storage_->views().processes;
}
const TrackColumns& Trace::tracks() const {
  return storage_->views().tracks;
}
const SpanColumns& Trace::spans() const {
  return storage_->views().spans;
}
const LaunchColumns& Trace::launches() const {
  return storage_->views().launches;
}
const AsyncSpanColumns& Trace::async_spans() const {
  return storage_->views().async_spans;
}
const InstantColumns& Trace::instants() const {
  return storage_->views().instants;
}
const CounterColumns& Trace::counters() const {
  return storage_->views().counters;
}
const FlowColumns& Trace::flows() const {
  return storage_->views().flows;
}
const AllocationColumns& Trace::allocations() const {
  return storage_->views().allocations;
}
const TensorColumns& Trace::tensors() const {
  return storage_->views().tensors;
}
const HeldTensorColumns& Trace::held_tensors() const {
  return storage_->views().held_tensors;
}
const TensorLifeColumns& Trace::tensor_lives() const {
  return storage_->views().tensor_lives;
}
const OperatorColumns& Trace::operators() const {
  return storage_->views().operators;
}
const StepColumns& Trace::steps() const {
  return storage_->views().steps;
}
const FrameColumns& Trace::frames() const {
  return storage_->views().frames;
}
const StackColumns& Trace::stacks() const {
  return storage_->views().stacks;
}
const PythonCallColumns& Trace::python_calls() const {
  return storage_->views().python_calls;
}
const ProblemColumns& Trace::problems() const {
  return storage_->views().problems;
}
const MetadataColumns& Trace::metadata() const {
  return storage_->views().metadata;
}

size_t Trace::argument_list_count() const {
  return storage_->arguments.size();
}
std::span<const Argument> Trace::arguments(ArgsId id) const {
  return storage_->arguments.list(id);
}
const OwnCostRow* OwnCosts::Find(std::string_view source, SpanKind kind) const {
  for (const OwnCostRow& row : rows) {
    if (row.source == source && row.kind == kind) return &row;
  }
  return nullptr;
}
const OwnCostRow* OwnCosts::FindOfFramework(SpanKind kind) const {
  for (const OwnCostRow& row : rows) {
    if (row.source != kProgram && row.source != kPython && row.kind == kind) return &row;
  }
  return nullptr;
}
bool Trace::has_own_kinds() const {
  return storage_->has_own_kinds;
}
bool Trace::is_partial() const {
  return storage_->views().is_partial;
}
uint64_t Trace::memory_bytes() const {
  return storage_->views().memory_bytes;
}

}  // namespace opscope
