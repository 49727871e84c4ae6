// SPDX-License-Identifier: Apache-2.0
#include "opscope/profiler.h"

#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/short_memory.h"
#include "opscope/record_to.h"
#include "profiler/save.h"

namespace opscope {
namespace {

Error Misuse(const char* sentence) {
  return {ErrorCode::kInvalidArgument, sentence};
}

}  // namespace

Profiler::Profiler(Options options) : options_(std::move(options)), flight_(options_.flight) {
}

Profiler::~Profiler() {
  EndStepRange();
  flight_.Stop();
  flight_.Release(running_.get());
  flight_.Release(complete_.get());
}

Action Profiler::ActionOf(int64_t step) const {
  return options_.schedule ? options_.schedule(step) : Action::kRecord;
}

Status Profiler::Start() {
  return OrShortMemory("profiler", [this] { return StartNow(); });
}

Status Profiler::Step() {
  return OrShortMemory("profiler", [this] { return StepNow(); });
}

Status Profiler::Stop() {
  return OrShortMemory("profiler", [this] { return StopNow(); });
}

Status Profiler::StartNow() {
  if (state_ == State::kRunning) return Misuse("profiler: started already");
  if (const auto* schedule = options_.schedule.target<Schedule>()) OPSCOPE_TRY(schedule->Validate());
  if (state_ == State::kIdle) action_ = ActionOf(step_);
  OPSCOPE_TRY(flight_.Start());
  if (Status begun = Obey(Transition(Action::kNone, action_), false); !begun.ok()) {
    flight_.Stop();
    return begun;
  }
  state_ = State::kRunning;
  BeginStepRange();
  return {};
}

Status Profiler::StepNow() {
  if (state_ != State::kRunning) return Misuse("profiler: step without start");
  EndStepRange();
  flight_.Step();
  TellMessages();
  const Action previous = action_;
  ++step_;
  action_ = ActionOf(step_);
  OPSCOPE_TRY(Obey(Transition(previous, action_), previous == Action::kWarmup));
  BeginStepRange();
  return {};
}

Status Profiler::StopNow() {
  if (state_ == State::kIdle) return Misuse("profiler: stop without start");
  if (state_ == State::kStopped) return {};
  EndStepRange();
  state_ = State::kStopped;
  flight_.Stop();
  TellMessages();
  return Obey(Transition(action_, std::nullopt), action_ == Action::kWarmup);
}

// throw_away: what is started and stopped at the end of a warm-up is no recording.
Status Profiler::Obey(const TransitionPlan& plan, bool throw_away) {
  for (const TransitionStep step : plan) {
    switch (step) {
      case TransitionStep::kPrepare:
        opscope_prepare();
        break;
      case TransitionStep::kStart:
        OPSCOPE_TRY(OpenWindow());
        break;
      case TransitionStep::kStop:
        CloseWindow(throw_away);
        break;
      case TransitionStep::kReady:
        if (options_.on_ready) options_.on_ready(*this);
        break;
      default:
        if (options_.on_warning) options_.on_warning(TransitionWarning(step));
    }
  }
  return {};
}

Status Profiler::OpenWindow() {
  WindowOptions options;
  options.at_cap = options_.at_cap;
  options.native_threads = options_.threads;
  options.max_bytes = options_.max_bytes;
  options.metadata_json = options_.metadata_json.c_str();
  record_to_ = RecordingPath(options_.record_to, recordings_ + 1);
  options.record_to = record_to_.empty() ? nullptr : record_to_.c_str();
  const char* error = "";
  running_.reset(opscope_window_open(&options, &error));
  if (running_ == nullptr) return Error{ErrorCode::kUnsupported, std::string("profiler: ") + error};
  flight_.Watch(running_.get());
  ++recordings_;
  WarnOfFile(running_.get(), false);
  return {};
}

// Of a file that could not be made at once, of others when they have ended: one sentence per recording.
void Profiler::WarnOfFile(const Window* window, bool has_ended) {
  if (record_to_.empty() || !options_.on_warning) return;
  const WindowFile file = opscope_window_file(window);
  if (file.error == 0 || has_ended != (file.bytes != 0)) return;
  options_.on_warning(FileWarning(record_to_, file));
}

void Profiler::CloseWindow(bool throw_away) {
  if (running_ == nullptr) return;  // a failed start
  flight_.Leave();
  opscope_window_close(running_.get());
  WarnOfFile(running_.get(), true);
  if (throw_away) {
    flight_.Release(running_.get());
    running_.reset();
  } else {
    flight_.Release(complete_.get());
    complete_ = std::move(running_);
  }
}

void Profiler::TellMessages() {
  for (const std::string& sentence : flight_.TakeMessages()) {
    if (options_.on_warning) options_.on_warning(sentence);
  }
}

void Profiler::BeginStepRange() {
  if (!options_.schedule || running_ == nullptr) return;
  Stream* stream = opscope_stream_attach(opscope_window_slot(running_.get()), 0);
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
  const Window* window = running_ != nullptr ? running_.get() : complete_.get();
  return window == nullptr ? WindowCounts{} : opscope_window_counts(window);
}

Status Profiler::Save(const std::string& path) const {
  if (complete_ == nullptr) return Misuse("profiler: nothing is recorded yet");
  return SaveRecording(complete_.get(), path);
}

}  // namespace opscope
