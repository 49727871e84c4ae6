// One lock guards the state, and it is not held while a dump is written: a dump may take a second, and
// recording threads must not wait for it. `in_progress` counts dumps instead, and Release waits for it before
// a window is freed. Automatic dumps have no caller, so their errors are kept as messages, at most 16.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/flight_recorder.h"

#include <time.h>
#include <unistd.h>

#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/json_object.h"
#include "base/mutex.h"
#include "flight/dump_path.h"
#include "flight/dumper_thread.h"
#include "flight/save.h"
#include "flight/signal_handler.h"
#include "flight/terminate_handler.h"

namespace opscope {
namespace {

constexpr size_t kMaxMessages = 16;

Error Misuse(const char* sentence) {
  return {ErrorCode::kInvalidArgument, std::string("flight recorder: ") + sentence};
}

std::string About(uint64_t number, std::string_view reason, std::string_view detail) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::string about;
  JsonMemberWriter members(&about);
  members.Uint("number", number).Text("reason", reason);
  if (!detail.empty()) members.Text("detail", detail);
  members.Int("unix_ns", static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec);
  return about;
}

}  // namespace

struct FlightRecorder::State final : DumpListener, TerminateListener {
  explicit State(FlightOptions chosen) : options(std::move(chosen)), thread(this) {}

  Result<std::string> Dump(const std::string& path, const std::string& reason, const std::string& detail);
  // An automatic dump. False: nothing is being recorded.
  bool DumpAutomatically(const std::string& reason, const std::string& detail);
  void OnSignalReceived(int signal) override { DumpAutomatically("signal", SignalName(signal)); }
  bool OnHang(int64_t ns) override {
    return DumpAutomatically("no_step", "no step for " + std::to_string(ns / 1000000) + " ms");
  }
  void OnUncaughtException(const std::string& type) override { DumpAutomatically("exception", type); }
  bool is_in_child() const { return process != getpid(); }

  FlightOptions options;
  pid_t process = getpid();
  DumperThread thread;
  bool runs = false;
  bool has_thread = false;
  bool listens = false;

  Mutex mutex;  // not held while a dump is written
  ConditionVariable written;
  Window* watched OPSCOPE_GUARDED_BY(mutex) = nullptr;
  int in_progress OPSCOPE_GUARDED_BY(mutex) = 0;
  uint64_t number OPSCOPE_GUARDED_BY(mutex) = 0;  // of the last dump
  std::vector<std::string> files OPSCOPE_GUARDED_BY(mutex);
  std::vector<std::string> messages OPSCOPE_GUARDED_BY(mutex);
};

Result<std::string> FlightRecorder::State::Dump(const std::string& path, const std::string& reason,
                                                const std::string& detail) {
  MutexLock lock(mutex);
  if (watched == nullptr) return Misuse("nothing is being recorded");
  if (path.empty() && options.path.empty()) return Misuse("no path for the dump");
  ++number;
  std::string file;
  if (path.empty()) {
    file = FreeDumpPath(options.path, process, &number);
  } else {
    file = FillDumpPath(path, process, number);
  }
  const std::string about = About(number, reason, detail);
  // Nothing after the file may fail: an existing dump must be listed.
  std::string listed = file;
  files.reserve(files.size() + static_cast<size_t>(in_progress) + 1);
  Window* const window = watched;
  ++in_progress;
  lock.unlock();
  Status status = SaveDump(window, about, file);
  lock.lock();
  --in_progress;
  written.notify_all();
  if (!status.ok()) return status.error();
  files.push_back(std::move(listed));
  return file;
}

bool FlightRecorder::State::DumpAutomatically(const std::string& reason, const std::string& detail) {
  if (is_in_child()) return true;
  const Result<std::string> dumped =
      CatchBadAlloc("flight recorder", [&]() -> Result<std::string> { return Dump({}, reason, detail); });
  if (dumped.ok()) return true;
  if (dumped.error().code == ErrorCode::kInvalidArgument) return false;
  const MutexLock lock(mutex);
  try {
    if (messages.size() < kMaxMessages) messages.push_back("dump (" + reason + "): " + dumped.error().message);
  } catch (const std::bad_alloc&) {  // then there is no memory to tell of it either
  }
  return true;
}

FlightRecorder::FlightRecorder(FlightOptions options) : state_(std::make_unique<State>(std::move(options))) {
}

FlightRecorder::~FlightRecorder() {
  Stop();
  // Locks and the thread of a parent are beyond repair here.
  if (state_->is_in_child() && (state_->runs || state_->in_progress != 0)) (void)state_.release();
}

Status FlightRecorder::Check(const FlightOptions& options) {
  const bool dumps_automatically = options.signal != 0 || options.on_exception || options.no_step_for.count() != 0;
  if (dumps_automatically && options.path.empty()) return Misuse("automatic dumps need a path");
  if (options.no_step_for.count() < 0) return Misuse("the time without a step is negative");
  if (options.no_step_for.count() > int64_t{1} << 40) return Misuse("the time without a step is too long");
  if (options.signal != 0) OPSCOPE_TRY(CheckSignal(options.signal));
  return {};
}

Status FlightRecorder::Start() {
  return CatchBadAlloc("flight recorder", [this]() -> Status {
    if (state_->is_in_child()) {
      FlightOptions options = state_->options;
      (void)state_.release();
      state_ = std::make_unique<State>(std::move(options));
    }
    State& state = *state_;
    if (state.runs) return {};
    OPSCOPE_TRY(Check(state.options));
    if (!state.options.path.empty()) state.options.path = AbsoluteDumpPath(state.options.path);
    const int64_t no_step_ns = std::chrono::nanoseconds(state.options.no_step_for).count();
    if (state.options.signal != 0 || no_step_ns != 0) {
      OPSCOPE_TRY(state.thread.Start(state.options.signal, no_step_ns));
      state.has_thread = true;
    }
    state.runs = true;
    if (state.options.on_exception) {
      state.listens = ListenForTerminate(&state);
      if (!state.listens) {
        Stop();
        return Error{ErrorCode::kUnsupported, "flight recorder: too many are running"};
      }
    }
    return {};
  });
}

void FlightRecorder::Stop() {
  State& state = *state_;
  if (!state.runs || state.is_in_child()) return;
  if (state.listens) StopListening(&state);
  if (state.has_thread) state.thread.Stop();
  state.runs = state.listens = state.has_thread = false;
}

void FlightRecorder::Watch(Window* window) {
  if (state_->is_in_child()) return;
  const MutexLock lock(state_->mutex);
  state_->watched = window;
}

void FlightRecorder::Unwatch() {
  Watch(nullptr);
}

void FlightRecorder::Release(const Window* window) {
  if (window == nullptr || state_->is_in_child()) return;
  const MutexLock lock(state_->mutex);
  if (state_->watched == window) state_->watched = nullptr;
  while (state_->in_progress != 0)
    state_->written.wait(state_->mutex);
}

void FlightRecorder::Step() {
  state_->thread.OnStep();
}

Result<std::string> FlightRecorder::Dump(const std::string& path, const std::string& reason,
                                         const std::string& detail) {
  if (state_->is_in_child()) return Misuse("the recording belongs to the parent process");
  return CatchBadAlloc(path, [&]() -> Result<std::string> { return state_->Dump(path, reason, detail); });
}

std::vector<std::string> FlightRecorder::files() const {
  if (state_->is_in_child()) return {};
  const MutexLock lock(state_->mutex);
  return state_->files;
}

std::vector<std::string> FlightRecorder::TakeMessages() {
  if (state_->is_in_child()) return {};
  const MutexLock lock(state_->mutex);
  return std::exchange(state_->messages, {});
}

}  // namespace opscope
