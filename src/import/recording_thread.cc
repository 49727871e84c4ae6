// Scopes of one thread: looked up chunk by chunk as recorded, added as spans in pre-order.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording_thread.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace opscope {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

bool IsOtherThread(const Record& record) {
  return (record.flags & record_flags::kOtherThread) != 0;
}

ScopeType ScopeOf(const Record& record) {
  if (record.source == RecordSource::kAnnotation) return ScopeType::kUserScope;
  if (record.source != RecordSource::kTorch) return ScopeType::kUnknown;
  return record.scope <= static_cast<uint8_t>(ScopeType::kStaticRuntimeModel) ? static_cast<ScopeType>(record.scope)
                                                                              : ScopeType::kUnknown;
}

// N of "ProfilerStep#N"; -1 when the text ends in no number.
int64_t StepNumber(std::string_view name) {
  int64_t number = 0;
  const size_t last = name.find_last_not_of("0123456789");
  const std::string_view digits = last == std::string_view::npos ? name : name.substr(last + 1);
  if (digits.empty() || digits.size() > 18) return -1;
  for (const char digit : digits)
    number = number * 10 + (digit - '0');
  return number;
}

}  // namespace

RecordingTables::RecordingTables(TraceBuilder* builder, const TickClock* clock)
    : builder_(builder),
      clock_(clock),
      arguments_(builder),
      links_(builder),
      cpu_op_(builder->Intern("cpu_op")),
      user_annotation_(builder->Intern("user_annotation")),
      python_function_(builder->Intern("python_function")),
      runtime_(builder->Intern("cuda_runtime")),
      kernel_(builder->Intern("kernel")),
      instant_(builder->Intern("cpu_instant_event")) {
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

StringId RecordingTables::Category(const Record& record) const {
  switch (record.source) {
    case RecordSource::kAnnotation:
      return user_annotation_;
    case RecordSource::kTorch:
      return record.scope == static_cast<uint8_t>(ScopeType::kUserScope) ? user_annotation_ : cpu_op_;
    case RecordSource::kPython:
      return python_function_;
    case RecordSource::kCuda:
      return runtime_;
    default:
      return cpu_op_;
  }
}

std::optional<StringId> RecordingTables::NameAt(const RecordingChunk& chunk, uint32_t offset) {
  if (offset == 0) return StringId::kEmpty;
  if (&chunk != chunk_of_names_) {
    names_of_chunk_.assign(chunk.byte_size() / 8 + 1, StringId::kNone);
    chunk_of_names_ = &chunk;
  }
  if (offset / 8 < names_of_chunk_.size() && names_of_chunk_[offset / 8] != StringId::kNone && offset % 8 == 0) {
    return names_of_chunk_[offset / 8];
  }
  const std::optional<std::string_view> text = chunk.name(offset);
  if (!text) return std::nullopt;
  return names_of_chunk_[offset / 8] = builder_->Intern(*text);
}

uint64_t RecordingTables::AddThread(std::span<const RecordingChunk> chunks, const WindowThread* facts) {
  scopes_.clear(), depths_.clear(), calls_.clear();
  has_calls_ = false;
  kept_ = 0;
  last_time_ = {INT64_MIN};
  const RecordingChunk& first = chunks.front();
  size_t records = 0;
  for (const RecordingChunk& chunk : chunks)
    records += chunk.record_count();
  scopes_.reserve(records), depths_.reserve(records);
  const TrackId track = ThreadTrack(first.process(), first.thread_index());
  groups_of_track_.resize(builder_->track_count(), 0);
  uint8_t& groups = groups_of_track_[Row(track)];
  groups = static_cast<uint8_t>(std::min(groups + 1, 2));
  for (size_t i = 0; i < chunks.size(); ++i) {
    TrackRow& row = builder_->track(track);
    row.tid = static_cast<int64_t>(chunks[i].os_thread());
    if (chunks[i].logical_thread() != 0) row.logical_thread = chunks[i].logical_thread();
    if (!chunks[i].thread_name().empty()) row.name = builder_->Intern(chunks[i].thread_name());
    if (i > 0 && chunks[i].sequence() == chunks[i - 1].sequence()) continue;  // the same chunk twice
    ReadChunk(chunks[i], static_cast<uint32_t>(i), track);
  }
  TrackRow& row = builder_->track(track);
  if (facts != nullptr && row.name == StringId::kNone && !facts->name.empty()) row.name = builder_->Intern(facts->name);
  if (facts != nullptr && row.logical_thread == 0) row.logical_thread = facts->logical_thread;
  AddScopes(chunks, track);
  CloseOpenCalls(track);
  if (has_calls_) groups_of_track_[Row(track)] = 2;
  return kept_;
}

void RecordingTables::ReadChunk(const RecordingChunk& chunk, uint32_t index, TrackId track) {
  uint64_t damaged = chunk.claimed_record_count() - chunk.record_count();
  int64_t first_damage = damaged > 0 ? chunk.record_offset(chunk.record_count()) : -1;
  for (uint32_t row = 0; row < chunk.record_count(); ++row) {
    if (ReadRecord(chunk, index, row, track)) {
      ++kept_;
      continue;
    }
    if (damaged++ == 0) first_damage = chunk.record_offset(row);
  }
  if (damaged > 0) builder_->AddProblem("damaged_record", first_damage, damaged);
}

bool RecordingTables::ReadRecord(const RecordingChunk& chunk, uint32_t index, uint32_t row, TrackId track) {
  const Record record = chunk.record(row);
  const std::optional<StringId> name = NameAt(chunk, record.name);
  if (!name) return false;
  const bool is_scope = record.kind == RecordKind::kScope || record.kind == RecordKind::kAsync;
  if (!is_scope) return AddOther(chunk, record, *name, track);
  Scope scope;
  scope.chunk = index;
  scope.row = row & 0x7fffffffu;
  scope.name = *name;
  if (record.side != 0) {
    const std::optional<Payload> payload = chunk.payload(record.side);
    if (!payload) return false;
    scope.has_fields = payload->has_fields ? 1 : 0;
    if (payload->argument_count > 0) {
      const std::optional<ArgsId> args = arguments_.Find(payload->argument_count, payload->arguments);
      if (!args) return false;
      scope.args = *args;
    }
  }
  scopes_.push_back(scope);
  // An asynchronous scope is no one's parent and no one's child: the deepest there is adopts nothing, and
  // AddScopes leaves it out.
  const bool nested = record.kind == RecordKind::kScope && !IsOtherThread(record);
  depths_.push_back(nested ? record.depth : UINT16_MAX);
  return true;
}

void RecordingTables::CountUnfinished(const RecordingChunk& chunk, uint32_t row, uint8_t flags) {
  if ((flags & record_flags::kUnfinished) != 0) builder_->AddProblem("unfinished_scope", chunk.record_offset(row));
}

AddedSpan RecordingTables::AddSpan(const RecordingChunk& chunk, const Scope& scope, const Record& record, SpanRow row) {
  row.start = clock_->At(record.start);
  row.duration = clock_->At(record.start + record.value) - row.start;
  row.name = scope.name;
  row.category = Category(record);
  row.args = scope.args;
  row.scope = ScopeOf(record);
  if ((record.flags & record_flags::kUnfinished) != 0) row.flags |= span_flags::kUnfinished;
  if (scope.has_fields != 0) {
    const Payload payload = *chunk.payload(record.side);  // was checked by ReadRecord
    row.sequence = payload.sequence;
    row.forward_thread = payload.forward_thread;
    // Names of damaged offsets are left out: the span itself is sound.
    if (payload.overload != 0) row.overload = NameAt(chunk, payload.overload).value_or(StringId::kNone);
    std::string extra;
    if (payload.keywords != 0) extra = chunk.name(payload.keywords).value_or("");
    if (payload.record_handle != 0) {
      extra += extra.empty() ? "\"Record function id\":" : ",\"Record function id\":";
      AppendUint(&extra, payload.record_handle);
    }
    if (!extra.empty()) row.extra = builder_->Intern(extra);
  }
  const bool maybe_step = record.source == RecordSource::kTorch && row.scope == ScopeType::kUserScope;
  const bool is_step =
      (record.flags & record_flags::kStep) != 0 || (maybe_step && builder_->text(row.name).starts_with(kStepPrefix));
  if (is_step) row.flags |= span_flags::kStep;
  CountUnfinished(chunk, scope.row, record.flags);
  last_time_ = std::max(last_time_, row.start + row.duration);
  const AddedSpan added = builder_->AddSpan(row);
  if (is_step) builder_->AddStep(StepNumber(builder_->text(row.name)), row.name, added);
  if (record.source == RecordSource::kTorch) {
    links_.Add(added, builder_->track(row.track).logical_thread);
  }
  return added;
}

void RecordingTables::AddScopes(std::span<const RecordingChunk> chunks, TrackId track) {
  const auto record_at = [&](size_t position) { return chunks[scopes_[position].chunk].record(scopes_[position].row); };
  // Depth alone misleads behind a missing chunk, and where another thread ended a scope that its owner still
  // counted: so a record adopts only what began after it did. Asynchronous scopes are left out below.
  const auto adopts = [&](size_t parent, size_t child) {
    return depths_[child] == UINT16_MAX || record_at(child).start >= record_at(parent).start;
  };
  const PreOrder order = OrderByDepth(depths_.view(), adopts);
  SpanRow row;
  row.track = track;
  std::vector<uint32_t> async;
  for (size_t place = 0; place < order.recorded.size(); ++place) {
    const uint32_t position = order.recorded[place];
    const Scope& scope = scopes_[position];
    const Record record = record_at(position);
    if (record.kind == RecordKind::kAsync || IsOtherThread(record)) {
      async.push_back(position);
      continue;
    }
    row.depth = order.depth[place];
    AddSpan(chunks[scope.chunk], scope, record, row);
  }
  links_.EndThread();
  for (const uint32_t position : async)
    AddAsync(chunks[scopes_[position].chunk], scopes_[position], track);
  links_.EndThread();
}

void RecordingTables::AddAsync(const RecordingChunk& chunk, const Scope& scope, TrackId track) {
  const Record record = chunk.record(scope.row);
  SpanRow row;
  row.track = track;
  row.flags = span_flags::kAsync;
  if (IsOtherThread(record)) {
    row.flags |= span_flags::kOtherThread;
    const std::optional<Payload> payload = record.side == 0 ? std::nullopt : chunk.payload(record.side);
    if (payload && payload->has_start_thread) row.track = ThreadTrack(chunk.process(), payload->start_thread);
  }
  links_.EndThread();
  AddSpan(chunk, scope, record, row);
}

}  // namespace opscope
