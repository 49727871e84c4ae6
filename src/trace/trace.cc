// The public, read-only view of TraceStorage. Freeze has prepared all results.
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

#define OPSCOPE_TABLE(Name, name, number, documentation) \
  const Name##Columns& Trace::name() const {             \
    return storage_->views().name;                       \
  }
#define OPSCOPE_DERIVED_TABLE(Name, name, documentation) \
  const Name##Columns& Trace::name() const {             \
    return storage_->name();                             \
  }
#include "opscope/trace_tables.def"

size_t Trace::argument_list_count() const {
  return storage_->argument_lists.size();
}
std::span<const Argument> Trace::arguments(ArgsId id) const {
  return storage_->argument_lists.list(id);
}
const OverheadRow* MeasuredOverheads::Find(std::string_view source, SpanKind kind) const {
  for (const OverheadRow& row : rows) {
    if (row.source == source && row.kind == kind) return &row;
  }
  return nullptr;
}
const OverheadRow* MeasuredOverheads::FindOfFramework(SpanKind kind) const {
  for (const OverheadRow& row : rows) {
    if (row.source != kProgram && row.source != kPython && row.kind == kind) return &row;
  }
  return nullptr;
}
bool Trace::has_explicit_kinds() const {
  return storage_->has_explicit_kinds;
}
bool Trace::is_partial() const {
  return storage_->views().is_partial;
}
uint64_t Trace::memory_bytes() const {
  return storage_->views().memory_bytes;
}

}  // namespace opscope
