// The parts of one thread, one after the other: what has to be done in their order.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/thread.h"

#include <algorithm>

#include "import/paddle/type_names.h"

namespace opscope {
namespace {

bool IsOtherThread(const Record& record) {
  return (record.flags & record_flags::kOtherThread) != 0;
}

}  // namespace

RecordingTables::RecordingTables(TraceBuilder* builder, const TickClock* clock)
    : builder_(builder),
      clock_(clock),
      arguments_(builder),
      links_(builder),
      memory_(builder),
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

ProcessId RecordingTables::Process(int64_t pid) {
  const auto found = processes_.find(pid);
  if (found != processes_.end()) return found->second;
  return processes_[pid] = builder_->AddProcess({.pid = pid});
}

void RecordingTables::NameProcess(int64_t pid, std::string_view name) {
  if (!name.empty()) builder_->process(Process(pid)).name = builder_->Intern(name);
}

TrackId RecordingTables::ThreadTrack(int64_t pid, uint32_t thread_index) {
  const auto [found, added] = thread_tracks_.try_emplace({pid, thread_index}, TrackId::kNone);
  if (added) found->second = builder_->AddTrack({.process = Process(pid), .kind = TrackKind::kThread});
  return found->second;
}

void RecordingTables::NameTrack(std::span<const RecordingChunk> chunks, const WindowThread* facts, TrackId track) {
  TrackRow& row = builder_->track(track);
  for (const RecordingChunk& chunk : chunks) {
    row.tid = static_cast<int64_t>(chunk.os_thread());
    if (chunk.logical_thread() != 0) row.logical_thread = chunk.logical_thread();
    if (!chunk.thread_name().empty()) row.name = builder_->Intern(chunk.thread_name());
  }
  if (facts == nullptr) return;
  if (row.name == StringId::kNone && !facts->name.empty()) row.name = builder_->Intern(facts->name);
  if (row.logical_thread == 0) row.logical_thread = facts->logical_thread;
}

uint64_t RecordingTables::AddThread(std::span<const RecordingChunk> chunks, std::span<RecordingPart> parts,
                                    const WindowThread* facts, uint64_t window_end) {
  const RecordingChunk& first = chunks.front();
  Thread thread;
  thread.track = ThreadTrack(first.process(), first.thread_index());
  thread.first_part = parts_.size();
  thread.part_count = parts.size();
  NameTrack(chunks, facts, thread.track);
  calls_.BeginThread(thread.track);
  uint64_t kept = 0;
  for (RecordingPart& part : parts) {
    Identify(&part);
    if (part.has_paddle) NameTypesOfPaddle();
    AddEvents(&part, thread.track);
    const uint32_t records = part.chunk->claimed_record_count();
    kept += records - std::min<uint64_t>(part.damaged, records);
    if (part.damaged > 0) {
      builder_->AddProblem("damaged_record", part.chunk->record_offset(part.first_damaged), part.damaged);
    }
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
    const std::optional<Payload> payload = record.side == 0 ? std::nullopt : part.chunk->payload(record.side);
    if (payload && payload->has_start_thread) {
      row.track = ThreadTrack(part.chunk->process(), payload->start_thread);
    }
  }
  thread->async.push_back({builder_->AddSpan(row), &part, &scope});
}

}  // namespace opscope
