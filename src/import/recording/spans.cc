// Fills the rows of spans part by part, several parts in parallel, then completes them in order. The place of each row
// is known before any is written (tree.h), so threads fill parts of one table without locks. Interned members and
// problems need the builder, which one thread at a time may use: such a span is deferred and completed afterwards, in
// the order of the rows, so ids do not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "base/parse_whole.h"
#include "base/text.h"
#include "import/recording/thread.h"

namespace opscope {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

ScopeType ScopeOf(const Record& record) {
  if (record.source == RecordSource::kAnnotation) return ScopeType::kUserScope;
  if (record.source != RecordSource::kTorch) return ScopeType::kUnknown;
  return record.scope <= static_cast<uint8_t>(ScopeType::kStaticRuntimeModel) ? static_cast<ScopeType>(record.scope)
                                                                              : ScopeType::kUnknown;
}

// N of "ProfilerStep#N"; -1 if the name does not end in a number of at most 18 digits.
int64_t StepNumber(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  const std::string_view digits = last == std::string_view::npos ? name : name.substr(last + 1);
  return digits.size() > 18 ? -1 : ParseWhole<int64_t>(digits).value_or(-1);
}

bool IsStep(const RecordingPart& part, const PartScope& scope, const Record& record) {
  const bool maybe =
      record.source == RecordSource::kTorch && record.scope == static_cast<uint8_t>(ScopeType::kUserScope);
  return (record.flags & record_flags::kStep) != 0 || (maybe && part.names[scope.name].starts_with(kStepPrefix));
}

}  // namespace

StringId RecordingTables::Category(const Record& record) const {
  switch (record.source) {
    case RecordSource::kAnnotation:
      return user_annotation_;
    case RecordSource::kTorch:
      return record.scope == static_cast<uint8_t>(ScopeType::kUserScope) ? user_annotation_ : cpu_op_;
    case RecordSource::kPython:
      return python_function_;
    case RecordSource::kPaddle:
      return record.scope < paddle_types_.size() ? paddle_types_[record.scope] : cpu_op_;
    case RecordSource::kCuda:
      return runtime_;
    default:
      return cpu_op_;
  }
}

// Everything except the track, the depth, and the columns of asynchronous spans.
SpanRow RecordingTables::RowOf(const RecordingPart& part, const PartScope& scope, const Record& record,
                               const TickClock& clock) const {
  SpanRow row;
  row.start = clock.At(record.start);
  row.duration = clock.At(record.start + record.value) - row.start;
  row.name = part.name_ids[scope.name];
  row.category = Category(record);
  if (scope.args != RecordingPart::kNoArguments) row.args = part.args_ids[scope.args];
  row.scope = ScopeOf(record);
  if ((record.flags & record_flags::kUnfinished) != 0) row.flags |= span_flags::kUnfinished;
  if (record.source == RecordSource::kAnnotation) row.flags |= span_flags::kNative;
  if (record.source == RecordSource::kTorch) row.external_id = TorchLinks::kUnnumbered;
  if (scope.has_fields == 0) return row;
  const std::optional<Payload> payload = part.chunk->payload(record.payload);
  if (!payload) return row;  // Unreachable: PartDecoder has checked it
  row.sequence = payload->sequence;
  row.forward_thread = payload->forward_thread;
  // Like torch, hides it from spans without a sequence number.
  if (record.source == RecordSource::kTorch && row.sequence < 0 && row.forward_thread != 0) {
    row.sequence = -1;
    row.forward_thread = 0;
  }
  if (scope.overload != 0) row.overload = part.name_ids[scope.overload];
  return row;
}

// True if Complete has something to add to the span.
bool RecordingTables::NeedsBuilder(const RecordingPart& part, const PartScope& scope, const Record& record,
                                   const SpanRow& row) {
  if ((row.flags & span_flags::kUnfinished) != 0 || row.duration.ns < 0) return true;
  if (IsStep(part, scope, record)) return true;
  if (scope.has_fields == 0) return false;
  constexpr uint16_t kExtra = payload_fields::kKeywords | payload_fields::kRecordHandle;
  const auto extent = part.chunk->payload_extent(record.payload);
  return extent && (extent->fields & kExtra) != 0;
}

// Gives the span the frames before its JSON members (kFramesMark), and returns the members.
std::string_view RecordingTables::TakeFrames(std::string_view text, AddedSpan span) {
  if (text.empty() || text.front() != kFramesMark) return text;
  const size_t end = text.find(kFramesMark, 1);
  if (end == std::string_view::npos) return {};
  const std::string_view frames = text.substr(1, end - 1);
  const auto [found, is_new] = stacks_of_scripts_.try_emplace(std::string(frames), StackId::kNone);
  for (size_t last = is_new ? frames.size() : 0; last > 0;) {
    const size_t line_end = last - 1;  // of its '\n'
    const size_t before = line_end == 0 ? std::string_view::npos : frames.rfind('\n', line_end - 1);
    const size_t first = before == std::string_view::npos ? 0 : before + 1;
    const StringId frame = builder_->Intern(frames.substr(first, line_end - first));
    found->second = builder_->AddStack(builder_->AddFrame(frame), found->second);
    last = first;
  }
  builder_->SetStack(span, found->second);
  return text.substr(end + 1);
}

void RecordingTables::Complete(const RecordingPart& part, const PartScope& scope, AddedSpan span) {
  const Record record = part.record(scope);
  if ((record.flags & record_flags::kUnfinished) != 0) {
    builder_->AddProblem("unfinished_scope", part.chunk->record_offset(scope.row));
  }
  const std::optional<Payload> read = scope.has_fields != 0 ? part.chunk->payload(record.payload) : std::nullopt;
  if (read) {
    const Payload& payload = *read;
    std::string extra;
    // A name at a damaged offset is dropped; the span itself is valid.
    const std::string_view keywords =
        payload.keywords != 0 ? part.chunk->name(payload.keywords).value_or("") : std::string_view();
    if (record.source == RecordSource::kPaddle) {
      extra = paddle_members_.Of(keywords, payload.arguments);
    } else if (!keywords.empty()) {
      extra = TakeFrames(keywords, span);
    }
    if (payload.record_handle != 0) {
      extra += extra.empty() ? "\"Record function id\":" : ",\"Record function id\":";
      AppendUint(&extra, payload.record_handle);
    }
    if (!extra.empty()) builder_->SetExtra(span, builder_->Intern(extra));
  }
  if (IsStep(part, scope, record)) {
    builder_->SetStep(span);
    builder_->AddStep(StepNumber(part.names[scope.name]), part.name_ids[scope.name], span);
    if (step_starts_) step_starts_->AddStep(span);
  }
}

void RecordingTables::Fill(ThreadTeam* team) {
  // A clock caches its last piece, so each member has its own.
  const std::vector<TickClock> clocks(team->size(), *clock_);
  team->ForEach(parts_.size(), [&](size_t part, size_t member) {
    FillPart(threads_[parts_[part].thread], clocks[member], &parts_[part]);
  });
}

void RecordingTables::FillPart(const Thread& thread, const TickClock& clock, FilledPart* filled) {
  const RecordingPart& part = *filled->part;
  const auto first = static_cast<uint32_t>(thread.first);
  ForEachBackward(part.tree, [&](uint32_t at, uint32_t place, uint16_t depth, uint32_t parent) {
    const PartScope& scope = part.scopes[at];
    const Record record = part.record(scope);
    SpanRow row = RowOf(part, scope, record, clock);
    row.track = thread.track;
    row.depth = depth;
    row.parent = parent == kNoParent ? AddedSpan::kNone : AddedSpan{first + parent};
    if (NeedsBuilder(part, scope, record, row)) filled->deferred.push_back({place, row.duration.ns < 0, &scope});
    row.duration.ns = std::max<int64_t>(row.duration.ns, 0);
    if (row.external_id != 0 && row.sequence >= 0) filled->sequenced.push_back(place);
    if (row.external_id != 0 && row.scope == ScopeType::kBackwardFunction) filled->backward.push_back(place);
    if (scope.has_fields != 0)
      RecordingTensors::AppendBackward(part, scope, AddedSpan{first + place}, &filled->tensors);
    builder_->SetSpan(AddedSpan{first + place}, row);
  });
}

// The spans in pre-order, over all parts of the thread.
void RecordingTables::CompleteThread(const Thread& thread) {
  struct PartSpan {
    DeferredSpan span;
    const RecordingPart* part;
  };
  std::vector<PartSpan> deferred;
  const auto parts = std::span(parts_).subspan(thread.first_part, thread.part_count);
  for (const FilledPart& filled : parts) {
    for (const DeferredSpan& span : filled.deferred)
      deferred.push_back({span, filled.part});
  }
  std::sort(deferred.begin(), deferred.end(),
            [](const PartSpan& a, const PartSpan& b) { return a.span.place < b.span.place; });
  const auto first = static_cast<uint32_t>(thread.first);
  for (const PartSpan& each : deferred) {
    if (each.span.is_negative) builder_->AddProblem("negative_duration", -1);
    Complete(*each.part, *each.span.scope, AddedSpan{first + each.span.place});
  }
  for (FilledPart& filled : parts) {
    tensors_.Add(filled.tensors);
    filled.tensors = {};
  }
  for (const AsyncSpan& async : thread.async) {
    Complete(*async.part, *async.scope, async.span);
    std::vector<TensorRow> tensors;
    if (async.scope->has_fields != 0) RecordingTensors::AppendBackward(*async.part, *async.scope, async.span, &tensors);
    tensors_.Add(tensors);
  }
}

void RecordingTables::LinkThread(const Thread& thread) {
  const auto first = static_cast<uint32_t>(thread.first);
  links_.AddThread(thread.first, thread.count, builder_->track(thread.track).logical_thread);
  for (const FilledPart& filled : std::span(parts_).subspan(thread.first_part, thread.part_count)) {
    // The rows were filled from the last to the first; asynchronous spans are in the order of their ends.
    std::for_each(filled.sequenced.rbegin(), filled.sequenced.rend(),
                  [&](uint32_t place) { links_.AddSequenced(AddedSpan{first + place}); });
    std::for_each(filled.backward.rbegin(), filled.backward.rend(),
                  [&](uint32_t place) { links_.AddBackward(AddedSpan{first + place}); });
  }
  const SpanColumns spans = builder_->added_spans();
  for (const AsyncSpan& async : thread.async) {
    const auto row = static_cast<size_t>(async.span);
    links_.AddThread(async.span, 1, builder_->track(spans.track[row]).logical_thread);
    if (spans.external_id[row] != 0 && spans.sequence[row] >= 0) links_.AddSequenced(async.span);
  }
}

void RecordingTables::Finish() {
  for (const Thread& thread : threads_) {
    CompleteThread(thread);
    LinkThread(thread);
  }
  tensors_.Finish();
  links_.Finish();
  flows_.Join();
  // Calls of CUDA are not assigned to MegEngine's tracks, so they are added before those tracks.
  const std::set<TrackId> call_tracks = cuda_.Finish();
  native_.Finish();
  for (const TrackId track : call_tracks) {
    if (Row(track) < track_orders_.size() && track_orders_[Row(track)] == TrackOrder::kOneWindow) {
      track_orders_[Row(track)] = TrackOrder::kManyWindows;
    }
  }
  if (calls_.seen_python()) builder_->SetPythonCalls();
  memory_.Finish();
  for (size_t track = 0; track < track_orders_.size(); ++track) {
    if (track_orders_[track] == TrackOrder::kOneWindow) builder_->SetNested(static_cast<TrackId>(track));
    if (track_orders_[track] == TrackOrder::kCrossing) builder_->SetCrossing(static_cast<TrackId>(track));
  }
  if (step_starts_) step_starts_->Move(builder_);
}

}  // namespace opscope
