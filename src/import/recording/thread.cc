// Adds the parts of one thread, one after the other: everything that depends on their order. Names and arguments get
// their ids in the order of first appearance. Records that are not scopes become rows, or wait for those of other
// threads (flows, allocations). The scopes of all parts become one tree with reserved rows, which spans.cc fills. So
// ids depend only on the recording, not on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/thread.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "import/paddle/type_names.h"

namespace opscope {
namespace {

bool IsOtherThread(const Record& record) {
  return (record.flags & record_flags::kOtherThread) != 0;
}

bool IsOfCuda(std::span<const RecordingPart> parts) {
  return !parts.empty() && parts.front().cuda.count > 0;
}

// Scopes on a track of another recorder are damage.
void DropScopes(RecordingPart* part) {
  for (const auto scopes : {std::span<const PartScope>(part->scopes), std::span<const PartScope>(part->async)}) {
    for (const PartScope& scope : scopes)
      part->CountDamage(scope.row);
  }
}

// Records of CUDA on a track of another source are damage.
void DropCudaRows(std::span<RecordingPart> parts) {
  for (RecordingPart& part : parts) {
    if (part.cuda.count > 0) part.CountDamage(part.cuda.first, part.cuda.count);
  }
}

}  // namespace

RecordingTables::RecordingTables(TraceBuilder* builder, const TickClock* clock)
    : builder_(builder),
      clock_(clock),
      arguments_(builder),
      links_(builder),
      tracks_(builder),
      tensors_(builder, clock),
      flows_(builder),
      memory_(builder),
      native_(builder, clock),
      cuda_(builder, clock),
      calls_(builder),
      cpu_op_(builder->Intern("cpu_op")),
      user_annotation_(builder->Intern("user_annotation")),
      python_function_(builder->Intern("python_function")),
      runtime_(builder->Intern("cuda_runtime")),
      kernel_(builder->Intern("kernel")),
      instant_(builder->Intern("cpu_instant_event")) {
}

void RecordingTables::NameTypesOfPaddle() {
  if (!paddle_types_.empty()) return;
  for (uint64_t type = 0; !PaddleTypeName(type).empty(); ++type)
    paddle_types_.push_back(builder_->Intern(PaddleTypeName(type)));
}

uint64_t RecordingTables::CountKept(const RecordingPart& part) {
  const uint32_t records = part.chunk->claimed_record_count();
  if (part.damaged > 0) {
    builder_->AddProblem("damaged_record", part.chunk->record_offset(part.first_damaged), part.damaged);
  }
  return records - std::min<uint64_t>(part.damaged, records);
}

uint64_t RecordingTables::AddNative(int64_t pid, std::span<RecordingPart> parts) {
  uint64_t kept = 0;
  for (RecordingPart& part : parts) {
    Identify(&part);
    DropScopes(&part);
    kept += CountKept(part);
  }
  if (IsOfCuda(parts)) return kept - cuda_.Add(tracks_.Process(pid), pid, parts);
  native_.Add(tracks_.Process(pid), pid, parts);
  return kept;
}

uint64_t RecordingTables::AddThread(std::span<const RecordingChunk> chunks, std::span<RecordingPart> parts,
                                    const WindowThread* facts, uint64_t window_end) {
  const RecordingChunk& first = chunks.front();
  if (!IsOfCuda(parts)) DropCudaRows(parts);
  if (!parts.empty() && (parts.front().has_native || IsOfCuda(parts))) return AddNative(first.process(), parts);
  Thread thread;
  thread.track = tracks_.OfThread(first.process(), first.thread_index());
  thread.first_part = parts_.size();
  thread.part_count = parts.size();
  tracks_.NameThread(chunks, facts, thread.track);
  calls_.BeginThread(thread.track);
  uint64_t kept = 0;
  for (RecordingPart& part : parts) {
    Identify(&part);
    if (part.has_paddle) NameTypesOfPaddle();
    AddEvents(&part, thread.track);
    kept += CountKept(part);
    FilledPart& filled = parts_.emplace_back();
    filled.part = &part;
    filled.thread = static_cast<uint32_t>(threads_.size());
  }
  AddScopes(parts, &thread);
  CloseOpenCalls(parts, window_end);
  track_orders_.resize(builder_->track_count(), TrackOrder::kUnknown);
  TrackOrder& order = track_orders_[Row(thread.track)];
  if (calls_.seen()) {
    order = TrackOrder::kCrossing;
  } else if (order != TrackOrder::kCrossing) {
    order = order == TrackOrder::kUnknown ? TrackOrder::kOneWindow : TrackOrder::kManyWindows;
  }
  threads_.push_back(std::move(thread));
  return kept;
}

void RecordingTables::AddEvents(RecordingPart* part, TrackId track) {
  members_.clear();
  for (const PartEvent& event : part->events) {
    if (!AddEvent(*part->chunk, part->chunk->record(event.row), part->name_ids[event.name], track)) {
      part->CountDamage(event.row);
    }
  }
}

bool RecordingTables::AddEvent(const RecordingChunk& chunk, const Record& record, StringId name, TrackId track) {
  const Timestamp time = clock_->At(record.start);
  switch (record.kind) {
    case RecordKind::kEnter:
      calls_.Enter(record, time, name, Category(record), MembersOf(chunk, record));
      return true;
    case RecordKind::kExit:
      calls_.Exit(record, time);
      return true;
    case RecordKind::kHostBlock:
      memory_.AddHostBlock(record, time, chunk.process(), track);
      return true;
    case RecordKind::kHeld:
      return tensors_.AddHeld(chunk, record, track);
    case RecordKind::kAllocation:
    case RecordKind::kDeviceSpan:
      return AddPayloadEvent(chunk, record, name, track);
    case RecordKind::kOutOfMemory:
      if (record.payload != 0) return AddPayloadEvent(chunk, record, name, track);
      memory_.AddFailedHostBlock(time, static_cast<int64_t>(record.value), chunk.process(), track);
      return true;
    case RecordKind::kCounter:
      builder_->AddCounter({.time = time,
                            .name = name,
                            .series = builder_->Intern("value"),
                            .track = track,
                            .value = std::bit_cast<double>(record.value)});
      return true;
    case RecordKind::kInstant:
      builder_->AddInstant({.time = time, .name = name, .category = instant_, .track = track});
      return true;
    case RecordKind::kFlowBegin:
    case RecordKind::kFlowEnd:
      flows_.Add({record.value, time, record.kind == RecordKind::kFlowEnd, track, name});
      return true;
    default:
      return false;
  }
}

// kNone also if its payload is damaged; the call itself is valid.
StringId RecordingTables::MembersOf(const RecordingChunk& chunk, const Record& record) {
  if (record.payload == 0) return StringId::kNone;
  const auto [found, is_new] = members_.try_emplace(record.payload, StringId::kNone);
  if (!is_new) return found->second;
  const std::optional<Payload> payload = chunk.payload(record.payload);
  const std::string_view text =
      payload && payload->keywords != 0 ? chunk.name(payload->keywords).value_or("") : std::string_view();
  if (!text.empty()) found.value() = builder_->Intern(text);
  return found->second;
}

bool RecordingTables::AddPayloadEvent(const RecordingChunk& chunk, const Record& record, StringId name, TrackId track) {
  const std::optional<Payload> payload = record.payload == 0 ? std::nullopt : chunk.payload(record.payload);
  if (!payload) return false;
  const Timestamp time = clock_->At(record.start);
  if (record.kind == RecordKind::kAllocation || record.kind == RecordKind::kOutOfMemory) {
    if (!payload->has_address) return false;
    const AllocationRow row = {.time = time,
                               .track = track,
                               .address = payload->address,
                               .bytes = static_cast<int64_t>(record.value),
                               .total_allocated = payload->total_allocated,
                               .total_reserved = payload->total_reserved,
                               .device_type = static_cast<int32_t>(payload->device_type),
                               .device = payload->device};
    memory_.AddDeviceEvent(row, record.kind == RecordKind::kOutOfMemory);
    return true;
  }
  if (!payload->has_device) return false;
  builder_->AddSpan({.start = time,
                     .duration = clock_->At(record.start + record.value) - time,
                     .name = name,
                     .category = kernel_,
                     .track = tracks_.OfDevice(*payload),
                     .correlation = static_cast<uint32_t>(payload->correlation)});
  return true;
}

// The later of the window's end and the thread's last record.
void RecordingTables::CloseOpenCalls(std::span<const RecordingPart> parts, uint64_t window_end) {
  if (calls_.empty()) return;
  Timestamp last = window_end != 0 ? clock_->At(window_end) : Timestamp{INT64_MIN};
  for (const RecordingPart& part : parts) {
    for (const PartEvent& event : part.events)
      last = std::max(last, clock_->At(part.chunk->start(event.row)));
    for (const auto scopes : {std::span<const PartScope>(part.scopes), std::span<const PartScope>(part.async)}) {
      for (const PartScope& scope : scopes) {
        const Record record = part.record(scope);
        last = std::max(last, clock_->At(record.start + record.value));
      }
    }
  }
  calls_.EndThread(last);
}

void RecordingTables::Identify(RecordingPart* part) {
  part->name_ids.clear();
  for (const std::string_view name : part->names)
    part->name_ids.push_back(builder_->Intern(name));
  std::vector<uint8_t> bad;
  part->args_ids.clear();
  for (const EncodedArguments& arguments : part->arguments) {
    const std::optional<ArgsId> id = arguments_.Find(arguments);
    part->args_ids.push_back(id.value_or(ArgsId::kNone));
    if (id) continue;
    bad.resize(part->arguments.size(), 0);
    bad[part->args_ids.size() - 1] = 1;
  }
  if (!bad.empty()) part->DropScopes(bad);
}

void RecordingTables::AddScopes(std::span<RecordingPart> parts, Thread* thread) {
  JoinParts(
      parts.size(), [parts](size_t part) -> TreePart& { return parts[part].tree; },
      [parts](size_t parent_part, uint32_t parent, size_t child_part, uint32_t child) {
        return parts[child_part].start(child) >= parts[parent_part].start(parent);
      });
  for (const RecordingPart& part : parts)
    thread->count += part.scopes.size();
  thread->first = builder_->AppendSpans(thread->count);
  for (const RecordingPart& part : parts) {
    for (const PartScope& scope : part.async)
      AddAsync(part, scope, thread);
  }
}

void RecordingTables::AddAsync(const RecordingPart& part, const PartScope& scope, Thread* thread) {
  const Record record = part.record(scope);
  SpanRow row = RowOf(part, scope, record, *clock_);
  row.track = thread->track;
  row.flags |= span_flags::kAsync;
  if ((record.flags & record_flags::kCrossing) != 0) row.flags |= span_flags::kCrossing;
  if (IsOtherThread(record)) {
    row.flags |= span_flags::kOtherThread;
    const std::optional<Payload> payload = record.payload == 0 ? std::nullopt : part.chunk->payload(record.payload);
    if (payload && payload->has_start_thread) {
      row.track = tracks_.OfThread(part.chunk->process(), payload->start_thread);
    }
  }
  thread->async.push_back({builder_->AddSpan(row), &part, &scope});
}

}  // namespace opscope
