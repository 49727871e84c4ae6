// A window's records are read twice. Scan counts the rows and finds, per piece of the window, how far each device's
// clock is behind its launches. Replay has the state of MegEngine's own writer (open ranges, tensors, kernels in
// flight) and writes the rows. One pass is not enough, because the correction of a device's clock depends on all its
// launches and is needed for its first event.
// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/replay.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "import/megengine/timeline.h"

namespace opscope {
namespace {

constexpr const char* kCommands[] = {"Put", "Del", "Drop", "ReGen", "RecFree", "GetValue"};
constexpr const char* kProperties[] = {"unknown", "device", "shape", "dtype", "dev_value", "host_value"};
constexpr const char* kScopeTypes[] = {"scope", "module", "tensor_method", "functional", "backward"};

// "" for an event whose ranges have another name.
std::string_view RangeName(MegEngineEvent event) {
  switch (event) {
    case MegEngineEvent::kOpInput:
      return "Input";
    case MegEngineEvent::kOpOutput:
      return "Output";
    case MegEngineEvent::kTensorGetProp:
      return "TensorGetProp";
    case MegEngineEvent::kTensorWaitProp:
      return "TensorWaitProp";
    case MegEngineEvent::kStartProfile:
      return "StartProfile";
    case MegEngineEvent::kStopProfile:
      return "StopProfile";
    case MegEngineEvent::kAutoEvict:
      return "AutoEvict";
    default:
      return {};
  }
}

bool IsAboutTensor(MegEngineEvent event) {
  return event == MegEngineEvent::kOpInput || event == MegEngineEvent::kOpOutput ||
         event == MegEngineEvent::kTensorGetProp || event == MegEngineEvent::kTensorWaitProp ||
         event == MegEngineEvent::kTensorCommand;
}

// A tensor's Put may be inside of its GetValue, so the key includes the command's kind; scopes are identified by name.
RangeKey KeyOf(const MegEngineRecord& record) {
  const auto event = static_cast<uint32_t>(record.event);
  switch (record.event) {
    case MegEngineEvent::kScope:
    case MegEngineEvent::kCustom:
      return {event, static_cast<uint64_t>(record.name)};
    case MegEngineEvent::kTensorCommand:
      return {event | uint32_t{record.detail} << 8, record.value};
    default:
      return {event, record.value};
  }
}

}  // namespace

MegEngineReplay::MegEngineReplay(TraceBuilder* builder)
    : builder_(builder),
      tracks_(builder),
      spans_(builder),
      tensors_(builder),
      kernel_(builder->Intern("Kernel")),
      tensor_prop_(builder->Intern("TensorProp")),
      value_(builder->Intern("value")),
      dispatch_(builder->Intern("OpDispatch")) {
  for (size_t i = 0; i < std::size(kCommands); ++i)
    command_names_[i] = builder->Intern(kCommands[i]);
  for (size_t i = 0; i < std::size(kProperties); ++i)
    property_members_[i] = builder->Intern(std::string("\"kind\": \"") + kProperties[i] + '"');
  for (size_t i = 0; i < std::size(kScopeTypes); ++i)
    scope_types_[i] = builder->Intern(kScopeTypes[i]);
}

void MegEngineReplay::Begin(ProcessId process, int64_t pid) {
  tracks_.Begin(process, pid);
  pid_text_ = builder_->Intern(std::to_string(pid));
  threads_.clear();
  operators_.clear();
  notices_.clear();
  totals_.clear();
  rows_ = 0;
  shown_thread_ = UINT32_MAX;
  pieces_ = 1;
  piece_ = 0;
}

MegEngineReplay::Thread& MegEngineReplay::Of(uint16_t thread) {
  if (thread >= threads_.size()) threads_.resize(size_t{thread} + 1);
  return threads_[thread];
}

void MegEngineReplay::Scan(const MegEngineRecord& record) {
  switch (record.event) {
    case MegEngineEvent::kStart:
      pieces_ = std::max(pieces_, record.value);
      if (record.value != piece_) tracks_.BeginPiece(record.value);
      piece_ = record.value;
      return;
    case MegEngineEvent::kThread:
      return tracks_.NameThread(record.thread, builder_->text(record.name));
    case MegEngineEvent::kDevice:
      return tracks_.NameDevice(record.detail, builder_->text(record.name));
    case MegEngineEvent::kKernelLaunch:
      Of(record.thread).launched = record.finish ? std::nullopt : std::optional(record.time);
      break;
    case MegEngineEvent::kRecordDevice:
      tracks_.LookAtTick(record.detail, record.time, {static_cast<int64_t>(record.value)},
                         std::exchange(Of(record.thread).launched, std::nullopt));
      break;
    default:
      break;
  }
  if (record.thread != shown_thread_) tracks_.ShowThread(record.thread);
  shown_thread_ = record.thread;
  rows_ += MakesSpan(record.event, record.finish) ? 1 : 0;
}

void MegEngineReplay::BeginReplay() {
  piece_ = 0;
  tracks_.BeginPiece(piece_);
  spans_.Expect(rows_);
}

bool MegEngineReplay::ReplayAtBoundary(const MegEngineRecord& record, Thread* thread) {
  const bool is_start = record.event == MegEngineEvent::kStartProfile;
  const bool is_stop = record.event == MegEngineEvent::kStopProfile;
  if ((is_start && piece_ > 1) || (is_stop && piece_ < pieces_)) {
    thread->at_boundary = !record.finish;
    return true;
  }
  if (!thread->at_boundary) return false;
  switch (record.event) {
    case MegEngineEvent::kRecordDevice:
      return false;
    case MegEngineEvent::kTensorDeclare:
      tensors_.Declare(record.value, record.name);
      return true;
    case MegEngineEvent::kTensorProduce:  // not seen in the previous piece
      if (!tensors_.is_alive(record.value)) ReplayTensor(record, thread->track);
      return true;
    default:
      return true;
  }
}

void MegEngineReplay::Replay(const MegEngineRecord& record) {
  if (record.event == MegEngineEvent::kStart) {
    if (record.value != piece_) tracks_.BeginPiece(record.value);
    piece_ = record.value;
    return;
  }
  if (record.event == MegEngineEvent::kThread || record.event == MegEngineEvent::kDevice) return;
  Thread& thread = Of(record.thread);
  if (thread.track == TrackId::kNone) thread.track = tracks_.OfThread(record.thread);
  if (ReplayAtBoundary(record, &thread)) return;
  switch (record.event) {
    case MegEngineEvent::kOpDispatch:
      return Dispatch(record, thread.track);
    case MegEngineEvent::kRecordDevice:
      return Tick(record, &thread);
    case MegEngineEvent::kTensorDeclare:
    case MegEngineEvent::kTensorProduce:
    case MegEngineEvent::kTensorRelease:
    case MegEngineEvent::kTensorErase:
    case MegEngineEvent::kTensorNotifyProp:
      return ReplayTensor(record, thread.track);
    case MegEngineEvent::kShapeInfer:
      if (record.value == 0) AddUp("nr_shape_infer_failure", thread.track, record.time, 1);
      return;
    case MegEngineEvent::kWorkerException:
      spans_.Abandon(thread.track, static_cast<uint32_t>(MegEngineEvent::kOpExecute), record.time);
      thread.kernels.clear();
      return AddUp("nr_exception", thread.track, record.time, 1);
    case MegEngineEvent::kStopStep:
      return builder_->AddInstant({.time = record.time, .name = builder_->Intern("StopStep"), .track = thread.track});
    default:
      return record.finish ? ReplayEnd(record, &thread) : ReplayBegin(record, &thread);
  }
}

void MegEngineReplay::ReplayTensor(const MegEngineRecord& record, TrackId track) {
  switch (record.event) {
    case MegEngineEvent::kTensorDeclare:
      return tensors_.Declare(record.value, record.name);
    case MegEngineEvent::kTensorProduce:
      return tensors_.Produce(record, tracks_.OfDevice(static_cast<uint16_t>(record.device)));
    case MegEngineEvent::kTensorRelease:
      return tensors_.Release(record.value, record.time);
    case MegEngineEvent::kTensorErase:
      return tensors_.Erase(record.value);
    default:
      notices_[record.value].push_back({record.time, track});
  }
}

StringId MegEngineReplay::ScopeCategory(uint16_t type) const {
  return scope_types_[type < std::size(scope_types_) ? type : 0];
}

void MegEngineReplay::ReplayBegin(const MegEngineRecord& record, Thread* thread) {
  if (!MakesSpan(record.event, false)) {
    if (record.event == MegEngineEvent::kKernelLaunch) {
      thread->kernels.push_back({.op = record.value,
                                 .number = record.kernel,
                                 .device = static_cast<uint16_t>(record.device),
                                 .start = record.time,
                                 .end = record.time});
      SpanRow* op = spans_.Newest(thread->track, static_cast<uint32_t>(MegEngineEvent::kOpExecute));
      if (op != nullptr && op->correlation == 0) op->correlation = ShortNumber(record.kernel);
    }
    if (record.event == MegEngineEvent::kHostToDevice) thread->copy_start = record.time;
    return;
  }
  SpanRow row{.start = record.time, .track = thread->track};
  row.name = builder_->Intern(RangeName(record.event));
  if (IsAboutTensor(record.event)) row.external_id = ShortNumber(record.value);
  switch (record.event) {
    case MegEngineEvent::kOpExecute:
      return Execute(record, thread);
    case MegEngineEvent::kOpInput:
      thread->inputs.push_back(tensors_.ArgsOf(record.value));
      row.args = thread->inputs.back();
      break;
    case MegEngineEvent::kTensorCommand:
      row.name = command_names_[record.detail < std::size(command_names_) ? record.detail : 0];
      break;
    case MegEngineEvent::kTensorGetProp:
      row.extra = property_members_[record.detail < std::size(property_members_) ? record.detail : 0];
      spans_.Begin(KeyOf(record), row);
      spans_.End(row.track, KeyOf(record), record.time);
      return;
    case MegEngineEvent::kScope:
      row.name = record.name;
      row.category = ScopeCategory(record.detail);
      row.kind = record.detail == static_cast<uint16_t>(MegEngineScope::kModule)    ? SpanKind::kModule
                 : record.detail == static_cast<uint16_t>(MegEngineScope::kDefault) ? SpanKind::kUserRange
                                                                                    : kForcedOther;
      break;
    case MegEngineEvent::kCustom:
      row.name = record.name;
      break;
    default:
      break;
  }
  spans_.Begin(KeyOf(record), row);
}

void MegEngineReplay::ReplayEnd(const MegEngineRecord& record, Thread* thread) {
  switch (record.event) {
    case MegEngineEvent::kOpExecute:
      return FinishOperator(record, thread);
    case MegEngineEvent::kKernelLaunch:
      return FinishKernel(record, thread);
    case MegEngineEvent::kHostToDevice:
      return CopyToDevice(record, *thread);
    case MegEngineEvent::kTensorWaitProp:
      return FinishWait(record, thread->track);
    case MegEngineEvent::kSampleDevice:
      return Count(std::string(tracks_.physical_name(record.detail)) + "_alloc_mem", thread->track, record.time,
                   static_cast<double>(record.value));
    case MegEngineEvent::kCustom:
      if (record.detail != 0) FinishOnDevice(record, thread->track);
      break;
    case MegEngineEvent::kOpOutput:
      if (SpanRow* row = spans_.Newest(thread->track, static_cast<uint32_t>(record.event))) {
        row->args = tensors_.ArgsOf(record.value);
      }
      break;
    default:
      break;
  }
  if (!spans_.End(thread->track, KeyOf(record), record.time) && record.event != MegEngineEvent::kScope) {
    builder_->AddProblem("stray_end", -1);
  }
}

void MegEngineReplay::Count(std::string_view name, TrackId track, Timestamp time, double value) {
  builder_->AddCounter(
      {.time = time, .name = builder_->Intern(name), .series = value_, .track = track, .value = value});
}

void MegEngineReplay::AddUp(const char* name, TrackId track, Timestamp time, int64_t delta) {
  int64_t& total = totals_[name];
  total = static_cast<int64_t>(static_cast<uint64_t>(total) + static_cast<uint64_t>(delta));
  Count(name, track, time, static_cast<double>(total));
}

void MegEngineReplay::End() {
  while (!copies_.empty())
    AddCopies(copies_.begin()->first, std::nullopt);
  spans_.Finish();
  tensors_.Finish();
}

void MegEngineReplay::Finish() {
  tracks_.Finish();
  AddMegEngineSteps(builder_);
}

}  // namespace opscope
