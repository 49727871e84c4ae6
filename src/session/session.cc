// A session hands out recordings and remembers the newest. After fork the child finds mutexes that a thread
// of the parent may have held: they are abandoned, not unlocked, and made anew at the next call. The
// process id is cached and refreshed by an atfork handler, because each step of a job asks for it and
// getpid is a system call.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/session.h"

#include <pthread.h>
#include <unistd.h>

#include <utility>

#include "base/catch_bad_alloc.h"
#include "opscope/record_to.h"
#include "session/recording_state.h"
#include "session/retained_recording.h"

namespace opscope {
namespace {

// Known without a system call: every step of a job asks whether its session is started.
std::atomic<pid_t> this_process{0};

void CacheProcessId() {
  static const int watched = pthread_atfork(nullptr, nullptr, [] { this_process.store(getpid()); });
  (void)watched;
  this_process.store(getpid());
}

}  // namespace

struct Session::Newest {
  Mutex mutex;
  std::shared_ptr<Recording> recording OPSCOPE_GUARDED_BY(mutex);
};

Session::Session(FlightOptions flight)
    : flight_options_(std::move(flight)),
      process_(getpid()),
      shared_(std::make_shared<Recording::Shared>(flight_options_)),
      newest_(std::make_unique<Newest>()) {
}

Session::~Session() {
  Stop();
}

// A thread of the parent may have held the locks for ever.
void Session::ReinitAfterFork() {
  if (process_ == getpid()) return;
  (void)newest_.release();
  newest_ = std::make_unique<Newest>();
  shared_ = std::make_shared<Recording::Shared>(flight_options_);
  process_ = getpid();
}

FlightRecorder& Session::flight() const {
  return shared_->flight;
}

bool Recording::Shared::is_started() const {
  const pid_t process = started_by.load(std::memory_order_relaxed);
  return process != 0 && process == this_process.load(std::memory_order_relaxed);
}

bool Session::is_started() const {
  return shared_->is_started();
}

Status Session::Start() {
  return CatchBadAlloc("the session", [this]() -> Status {
    CacheProcessId();
    ReinitAfterFork();
    const MutexLock lock(newest_->mutex);
    if (is_started()) return Error{ErrorCode::kInvalidArgument, "started already"};
    OPSCOPE_TRY(shared_->StartFlight());
    shared_->started_by.store(getpid(), std::memory_order_relaxed);
    return {};
  });
}

void Session::Stop() {
  if (process_ != getpid()) return;
  shared_->started_by.store(0, std::memory_order_relaxed);
  shared_->StopFlight();
}

Result<std::shared_ptr<Recording>> Session::Prepare(RecordingOptions options, bool adds_up) {
  return CatchBadAlloc("the recording", [&]() -> Result<std::shared_ptr<Recording>> {
    ReinitAfterFork();
    const MutexLock lock(newest_->mutex);
    std::vector<SharedRecording> earlier;
    if (adds_up && newest_->recording != nullptr) {
      Result<std::vector<SharedRecording>> kept = newest_->recording->RetainAll();
      if (!kept.ok()) return kept.error();
      earlier = std::move(kept).value();
      options.max_bytes = MakeRoom(options.max_bytes, options.at_cap, &earlier);
    }
    options.record_to = RecordingPath(options.record_to, shared_->recordings.load() + 1);
    auto recording = std::make_shared<Recording>(std::move(options));
    recording->state_->shared = shared_;
    recording->state_->earlier = std::move(earlier);
    recording->state_->adds_up = adds_up;
    newest_->recording = recording;
    return recording;
  });
}

void Session::Forget() {
  ReinitAfterFork();
  const MutexLock lock(newest_->mutex);
  newest_->recording.reset();
}

}  // namespace opscope
