// A Profiler is a state machine over a Session: each step looks up the transition (schedule.h) and applies
// its operations. The range "ProfilerStep#N" goes directly into the running window, not through
// OPSCOPE_SCOPE, so that other open windows do not get it.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/profiler.h"

#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/json_members.h"

namespace opscope {
namespace {

Error Misuse(const char* sentence) {
  return {ErrorCode::kInvalidArgument, sentence};
}

}  // namespace

Profiler::Profiler(Options options) : options_(std::move(options)), session_(options_.flight) {
}

Profiler::~Profiler() {
  EndStepRange();
}

Action Profiler::ActionOf(int64_t step) const {
  return options_.schedule ? options_.schedule(step) : Action::kRecord;
}

Status Profiler::Start() {
  return CatchBadAlloc("profiler", [this] { return StartNow(); });
}

Status Profiler::Step() {
  return CatchBadAlloc("profiler", [this] { return StepNow(); });
}

Status Profiler::Stop() {
  return CatchBadAlloc("profiler", [this] { return StopNow(); });
}

Status Profiler::StartNow() {
  if (state_ == State::kRunning) return Misuse("profiler: started already");
  if (const auto* schedule = options_.schedule.target<Schedule>()) OPSCOPE_TRY(schedule->Validate());
  OPSCOPE_TRY(CheckMetadataJson(options_.metadata_json));
  if (state_ == State::kIdle) action_ = ActionOf(step_);
  OPSCOPE_TRY(session_.Start());
  Status begun =
      CatchBadAlloc("profiler", [this] { return ApplyTransition(Transition(Action::kNone, action_), false); });
  if (!begun.ok()) {  // as before the call, so that it can be repeated
    running_.reset();
    session_.Forget();
    session_.Stop();
    return begun;
  }
  state_ = State::kRunning;
  BeginStepRange();
  return {};
}

Status Profiler::StepNow() {
  if (state_ != State::kRunning) return Misuse("profiler: step without start");
  EndStepRange();
  session_.flight().Step();
  ReportMessages();
  const Action previous = action_;
  ++step_;
  action_ = ActionOf(step_);
  OPSCOPE_TRY(ApplyTransition(Transition(previous, action_), previous == Action::kWarmup));
  BeginStepRange();
  return {};
}

Status Profiler::StopNow() {
  if (state_ == State::kIdle) return Misuse("profiler: stop without start");
  if (state_ == State::kStopped) return {};
  EndStepRange();
  state_ = State::kStopped;
  session_.Stop();
  ReportMessages();
  return ApplyTransition(Transition(action_, std::nullopt), action_ == Action::kWarmup);
}

// discard: what is started and stopped at the end of a warm-up is no recording.
Status Profiler::ApplyTransition(const TransitionPlan& plan, bool discard) {
  for (const TransitionStep step : plan) {
    switch (step) {
      case TransitionStep::kPrepare:
        opscope_prepare();
        break;
      case TransitionStep::kStart:
        OPSCOPE_TRY(OpenWindow());
        break;
      case TransitionStep::kStop:
        CloseWindow(discard);
        break;
      case TransitionStep::kReady:
        if (options_.on_ready && is_ready_) options_.on_ready(*this);
        break;
      default:
        if (options_.on_warning) options_.on_warning(TransitionWarning(step));
    }
  }
  return {};
}

Status Profiler::OpenWindow() {
  is_ready_ = false;  // until it is complete: a start that fails leaves the recording before, which was ready once
  Result<std::shared_ptr<Recording>> prepared = session_.Prepare({.max_bytes = options_.max_bytes,
                                                                  .at_cap = options_.at_cap,
                                                                  .native_threads = options_.threads,
                                                                  .record_to = options_.record_to,
                                                                  .metadata_json = options_.metadata_json,
                                                                  .sources = options_.sources});
  if (!prepared.ok()) return prepared.error();
  if (Status begun = prepared.value()->Start(); !begun.ok()) {
    return Error{begun.error().code, "profiler: " + begun.error().message};
  }
  running_ = std::move(prepared).value();
  ReportFileWarning(*running_);
  return {};
}

// One sentence per recording: at its start if the file could not be created, else at its end.
void Profiler::ReportFileWarning(const Recording& recording) {
  if (const std::string warning = recording.FileWarning(); !warning.empty() && options_.on_warning) {
    options_.on_warning(warning);
  }
}

void Profiler::CloseWindow(bool discard) {
  if (running_ == nullptr) return;  // a failed start
  running_->Stop();
  ReportFileWarning(*running_);
  session_.Forget();
  is_ready_ = !discard;
  if (!discard) complete_ = std::move(running_);
  running_.reset();
}

void Profiler::ReportMessages() {
  for (const std::string& sentence : session_.flight().TakeMessages()) {
    if (options_.on_warning) options_.on_warning(sentence);
  }
}

void Profiler::BeginStepRange() {
  if (!options_.schedule || running_ == nullptr) return;
  Stream* stream = opscope_stream_attach(running_->slot(), 0);
  if (stream == nullptr) return;
  char name[40];
  std::snprintf(name, sizeof(name), "ProfilerStep#%" PRId64, step_);
  const auto write = [&] { return ScopeEntries{InternText(stream, name)}; };
  step_range_ = OpenScopeOn(stream, write, RecordSource::kAnnotation, 0, record_flags::kStep);
}

void Profiler::EndStepRange() {
  OpenScope* range = std::exchange(step_range_, nullptr);
  if (range != nullptr) EndScope(range, ReadTicks());
}

WindowCounts Profiler::Counts() const {
  const Recording* recording = running_ != nullptr ? running_.get() : complete_.get();
  return recording == nullptr ? WindowCounts{} : recording->counts();
}

Status Profiler::Save(const std::string& path) const {
  if (complete_ == nullptr) return Misuse("profiler: nothing is recorded yet");
  return complete_->Save(path);
}

}  // namespace opscope
