// Collects the rows of a Trace; Build is in build.cc. Rows go straight into columns, in the order of
// addition: importers name spans by that order (AddedSpan), and Build translates it once. Processes and
// tracks stay rows until Build, because importers complete them late.
// SPDX-License-Identifier: Apache-2.0
#include "trace/builder.h"

#include <algorithm>

#include "opscope/result.h"
#include "trace/pending.h"
#include "trace/problem_kinds.h"
#include "trace/storage.h"

namespace opscope {

namespace {

const ProblemKind& FindProblemKind(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kProblemKinds), std::end(kProblemKinds), [&](const auto& k) { return k.name == name; });
  OPSCOPE_CHECK(found != std::end(kProblemKinds));
  return *found;
}

}  // namespace

TraceBuilder::TraceBuilder() : storage_(std::make_unique<TraceStorage>()), pending_(std::make_unique<Pending>()) {
}
TraceBuilder::~TraceBuilder() = default;

TraceInfo& TraceBuilder::info() {
  return storage_->info;
}
StringId TraceBuilder::Intern(std::string_view text) {
  return storage_->strings.Intern(text);
}
std::string_view TraceBuilder::text(StringId id) const {
  return storage_->strings.text(id);
}

ProcessId TraceBuilder::AddProcess(const ProcessRow& row) {
  pending_->processes.push_back(row);
  return static_cast<ProcessId>(pending_->processes.size() - 1);
}

TrackId TraceBuilder::AddTrack(const TrackRow& row) {
  OPSCOPE_CHECK(Row(row.process) < pending_->processes.size());
  pending_->tracks.push_back(row);
  pending_->nesting.push_back(Nesting::kByTime);
  return static_cast<TrackId>(pending_->tracks.size() - 1);
}

ProcessRow& TraceBuilder::process(ProcessId id) {
  return pending_->processes[Row(id)];
}
TrackRow& TraceBuilder::track(TrackId id) {
  return pending_->tracks[Row(id)];
}
size_t TraceBuilder::process_count() const {
  return pending_->processes.size();
}
size_t TraceBuilder::track_count() const {
  return pending_->tracks.size();
}

void TraceBuilder::ReserveSpans(size_t count) {
  storage_->spans.Reserve(storage_->spans.size() + count);
}

AddedSpan TraceBuilder::AddSpan(const SpanRow& row) {
  OPSCOPE_CHECK(Row(row.track) < pending_->tracks.size());
  storage_->spans.Add(row);
  if (row.duration.ns < 0) {
    AddProblem("negative_duration", -1);
    storage_->spans.duration.back() = Duration{};
  }
  return static_cast<AddedSpan>(storage_->spans.size() - 1);
}

size_t TraceBuilder::span_count() const {
  return storage_->spans.size();
}
void TraceBuilder::SetPreOrdered(TrackId track) {
  pending_->nesting[Row(track)] = Nesting::kByDepth;
}
void TraceBuilder::SetNested(TrackId track) {
  pending_->nesting[Row(track)] = Nesting::kGiven;
}
void TraceBuilder::SetCrossing(TrackId track) {
  pending_->nesting[Row(track)] = Nesting::kByTimeAsSiblings;
}

SpanColumns TraceBuilder::added_spans() const {
  return storage_->spans.view();
}
InstantColumns TraceBuilder::added_instants() const {
  return storage_->instants.view();
}
FlowColumns TraceBuilder::added_flows() const {
  return storage_->flows.view();
}
std::span<const Argument> TraceBuilder::arguments(ArgsId id) const {
  return storage_->argument_lists.list(id);
}
size_t TraceBuilder::step_count() const {
  return storage_->steps.number.size();
}
std::span<uint32_t> TraceBuilder::external_ids() {
  return storage_->spans.external_id.rows();
}
std::span<ArgsId> TraceBuilder::added_args() {
  return storage_->spans.args.rows();
}
std::span<StackId> TraceBuilder::allocation_stacks() {
  return {storage_->allocations.stack.data(), storage_->allocations.stack.size()};
}
void TraceBuilder::SetSequence(AddedSpan span, int64_t sequence, uint64_t forward_thread) {
  storage_->spans.sequence.Set(static_cast<size_t>(span), sequence);
  storage_->spans.forward_thread.Set(static_cast<size_t>(span), forward_thread);
}

void TraceBuilder::SetName(AddedSpan span, StringId name) {
  storage_->spans.name[static_cast<size_t>(span)] = name;
}
void TraceBuilder::SetNumbers(AddedSpan span, uint32_t external_id, uint32_t correlation) {
  storage_->spans.external_id.Set(static_cast<size_t>(span), external_id);
  storage_->spans.correlation.Set(static_cast<size_t>(span), correlation);
}
void TraceBuilder::SetExtra(AddedSpan span, StringId extra) {
  storage_->spans.extra.Set(static_cast<size_t>(span), extra);
}
void TraceBuilder::SetStack(AddedSpan span, StackId stack) {
  storage_->spans.stack.Set(static_cast<size_t>(span), stack);
}
void TraceBuilder::SetKind(AddedSpan span, SpanKind kind) {
  storage_->spans.kind.Set(static_cast<size_t>(span), kind);
}
void TraceBuilder::SetStep(AddedSpan span) {
  auto& flags = storage_->spans.flags;
  const auto row = static_cast<size_t>(span);
  flags.Set(row, flags[row] | span_flags::kStep);
}

void TraceBuilder::SetStart(AddedSpan span, Timestamp start) {
  storage_->spans.start[static_cast<size_t>(span)] = start;
}
std::span<Timestamp> TraceBuilder::instant_times() {
  return {storage_->instants.time.data(), storage_->instants.time.size()};
}
std::span<Timestamp> TraceBuilder::allocation_times() {
  return {storage_->allocations.time.data(), storage_->allocations.time.size()};
}
std::span<Timestamp> TraceBuilder::flow_end_times() {
  return {storage_->flows.end_time.data(), storage_->flows.end_time.size()};
}
void TraceBuilder::MoveStart(AddedSpan span, Timestamp start) {
  SpanTable& spans = storage_->spans;
  const auto row = static_cast<size_t>(span);
  spans.duration[row] = spans.start[row] + spans.duration[row] - start;
  spans.start[row] = start;
  SetCrossing(spans.track[row]);
}

Timestamp TraceBuilder::FillMissingTimes(Timestamp first_elsewhere) {
  return storage_->FillMissingTimes(first_elsewhere);
}

void TraceBuilder::AddAsyncSpan(const AsyncSpanRow& row) {
  storage_->async_spans.Add(row);
}
void TraceBuilder::AddInstant(const InstantRow& row) {
  storage_->instants.Add(row);
}
void TraceBuilder::AddCounter(const CounterRow& row) {
  storage_->counters.Add(row);
}
void TraceBuilder::AddFlow(const FlowRow& row) {
  storage_->flows.Add(row);
}
void TraceBuilder::AddAllocation(const AllocationRow& row) {
  storage_->allocations.Add(row);
}

void TraceBuilder::AddTensor(const TensorRow& row) {
  storage_->tensors.Add(row);
}
void TraceBuilder::AddHeldTensor(const ReferencedTensorRow& row) {
  storage_->held_tensors.Add(row);
}
void TraceBuilder::AddTensorLife(const TensorLifeRow& row) {
  storage_->tensor_lives.Add(row);
}
void TraceBuilder::AddOperator(StringId name, StringId arguments) {
  storage_->operators.Add({.name = name, .arguments = arguments});
}

void TraceBuilder::AddStep(int64_t number, StringId name, AddedSpan span) {
  storage_->steps.Add({.number = number, .name = name, .span = span});
}

void TraceBuilder::AddPythonCall(const PythonCallRow& row) {
  storage_->python_calls.Add(row);
}
void TraceBuilder::SetPythonCalls() {
  pending_->has_python_calls = true;
}
void TraceBuilder::FillStacksFromCalls() {
  pending_->fill_stacks = true;
}

FrameId TraceBuilder::AddFrame(StringId text) {
  return storage_->stack_index.AddFrame(text, &storage_->frames);
}
StackId TraceBuilder::AddStack(FrameId frame, StackId caller) {
  return storage_->stack_index.AddStack(frame, caller, &storage_->stacks);
}
std::string TraceBuilder::CallStackText(StackId stack) const {
  std::string text;
  const StackColumns stacks = storage_->stacks.view();
  for (; stack != StackId::kNone; stack = stacks.caller[Row(stack)])
    text.append(this->text(storage_->frames.text[Row(stacks.frame[Row(stack)])])).append(";");
  return text;
}
ArgsId TraceBuilder::AddArguments(std::span<const ArgumentRow> arguments) {
  return storage_->argument_lists.Add(arguments);
}

void TraceBuilder::AddMetadata(std::string_view key, std::string_view json) {
  MetadataTable& table = storage_->metadata;
  const StringId id = Intern(key), value = Intern(json);
  const auto [found, added] = pending_->row_of_metadata.try_emplace(Row(id), table.key.size());
  if (!added) {
    table.json[found->second] = value;
    return;
  }
  table.Add({.key = id, .json = value});
}

std::string_view TraceBuilder::FindMetadata(std::string_view key) const {
  const MetadataTable& table = storage_->metadata;
  for (size_t row = 0; row < table.key.size(); ++row) {
    if (text(table.key[row]) == key) return text(table.json[row]);
  }
  return {};
}

void TraceBuilder::AddProblem(std::string_view kind, int64_t offset, uint64_t count, std::string_view detail) {
  ProblemTable& table = storage_->problems;
  const StringId id = Intern(kind);
  for (size_t row = 0; row < table.kind.size(); ++row) {
    if (table.kind[row] == id) {
      table.count[row] += std::min(count, UINT64_MAX - table.count[row]);  // a damaged file may say any number
      if (table.first_offset[row] < 0) table.first_offset[row] = offset;
      return;
    }
  }
  const ProblemKind& known = FindProblemKind(kind);
  std::string message(known.sentence);
  if (!detail.empty()) message.append(" (").append(detail).append(")");
  const auto ranks = pending_->ranks_of_problem.find(Row(id));
  table.Add({.kind = id,
             .severity = known.severity,
             .count = count,
             .first_offset = offset,
             .message = Intern(message),
             .ranks = ranks == pending_->ranks_of_problem.end() ? StringId::kNone : ranks->second});
}

void TraceBuilder::SetProblemRanks(std::string_view kind, std::string_view ranks) {
  pending_->ranks_of_problem[Row(Intern(kind))] = Intern(ranks);
}

void TraceBuilder::RemapProblemOffsets(const std::function<uint64_t(uint64_t)>& offset_of) {
  auto& offsets = storage_->problems.first_offset;
  for (size_t row = 0; row < offsets.size(); ++row) {
    if (offsets[row] >= 0) offsets[row] = static_cast<int64_t>(offset_of(static_cast<uint64_t>(offsets[row])));
  }
}

void TraceBuilder::RestoreProblem(std::string_view kind, ProblemSeverity severity, uint64_t count, int64_t offset,
                                  std::string_view message, std::string_view ranks) {
  if (kind == kForeignIds) {
    if (!ranks.empty()) SetProblemRanks(kind, ranks);
    return;
  }
  storage_->problems.Add({.kind = Intern(kind),
                          .severity = severity,
                          .count = count,
                          .first_offset = offset,
                          .message = Intern(message),
                          .ranks = ranks.empty() ? StringId::kNone : Intern(ranks)});
}

bool TraceBuilder::HasProblem(std::string_view kind) const {
  const auto id = storage_->strings.Find(kind);
  const auto kinds = storage_->problems.kind.view();
  return id && std::find(kinds.begin(), kinds.end(), *id) != kinds.end();
}

uint64_t TraceBuilder::memory_bytes() const {
  return storage_->memory_bytes();
}

bool TraceBuilder::empty() const {
  const TraceStorage& s = *storage_;
  return s.spans.size() + s.async_spans.size() + s.instants.size() + s.counters.size() + s.flows.size() +
             s.allocations.size() ==
         0;
}

}  // namespace opscope
