// Sleeps until a signal or until a step is overdue. Steps are not waited for: OnStep stores a time, and
// the thread checks it when the limit could have passed, so a step costs one clock read. Two cases are no
// hang:
//
//   the process was stopped     the sleep lasted far longer than asked: SIGSTOP or a suspended machine; wait once more
//   nothing is being recorded   the listener has nothing to dump; ask again after the same time
//
// After one dump of a hang, wait for the next step.
// SPDX-License-Identifier: Apache-2.0
#include "flight/dumper_thread.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "base/system_error.h"
#include "flight/signal_handler.h"

namespace opscope {
namespace {

int64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// A thread that inherits no signal: the job's handlers must not run in it.
int StartThreadWithoutSignals(pthread_t* thread, void* (*run)(void*), void* context) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(thread, nullptr, run, context);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failed;
}

}  // namespace

Status DumperThread::Start(int signal, int64_t no_step_ns) {
  futex_ = TakeFutex();
  if (futex_ == nullptr) return Error{ErrorCode::kUnsupported, "flight recorder: too many are running"};
  signal_ = signal;
  no_step_ns_ = no_step_ns;
  stops_.store(false, std::memory_order_relaxed);
  reported_step_ns_ = -1;
  next_check_ns_ = 0;
  seen_ = futex_->count.load(std::memory_order_acquire);
  OnStep();
  if (const int failed = StartThreadWithoutSignals(&thread_, Run, this); failed != 0) {
    ReturnFutex(futex_);
    futex_ = nullptr;
    return SystemErrorFor("flight recorder: no thread", failed, ErrorCode::kUnsupported);
  }
  if (signal == 0) return {};
  Status opened = InstallSignalHandler(signal, futex_);
  if (!opened.ok()) Stop();
  return opened;
}

void DumperThread::Stop() {
  if (futex_ == nullptr) return;
  if (signal_ != 0) RemoveSignalHandler(signal_, futex_);
  last_count_ = futex_->count.load(std::memory_order_acquire);
  stops_.store(true, std::memory_order_release);
  futex_->Wake();
  pthread_join(thread_, nullptr);
  ReturnFutex(futex_);
  futex_ = nullptr;
}

void DumperThread::OnStep() {
  last_step_ns_.store(MonotonicNs(), std::memory_order_relaxed);
}

void* DumperThread::Run(void* self) {
  prctl(PR_SET_NAME, "opscope-dumper");
  static_cast<DumperThread*>(self)->Loop();
  return nullptr;
}

void DumperThread::Loop() {
  while (!stops_.load(std::memory_order_acquire)) {
    const int64_t slept_at = MonotonicNs();
    const int64_t timeout = NextCheckTimeout(slept_at);
    futex_->Sleep(seen_, timeout);
    const int64_t now = MonotonicNs();
    const uint32_t count = futex_->count.load(std::memory_order_acquire);
    if (stops_.load(std::memory_order_acquire)) break;
    if (count != seen_) {
      seen_ = count;
      AnswerSignal();
      continue;
    }
    // Slept far too long: the whole process was stopped (SIGSTOP, a suspended machine), not its steps.
    if (timeout >= 0 && now - slept_at > timeout + std::max<int64_t>(no_step_ns_ / 2, 1000000000)) {
      next_check_ns_ = now + no_step_ns_;
    } else if (no_step_ns_ != 0) {
      CheckForHang(now);
    }
  }
  // A signal that came just before the stop. The subtraction allows for a counter that wraps.
  if (static_cast<int32_t>(last_count_ - seen_) > 0) AnswerSignal();
}

void DumperThread::AnswerSignal() {
  if (signal_ == 0) return;
  listener_->OnSignalReceived(signal_);
  RunDefaultAction(signal_);
}

int64_t DumperThread::NextCheckTimeout(int64_t now) const {
  if (no_step_ns_ == 0) return -1;
  const int64_t last = last_step_ns_.load(std::memory_order_relaxed);
  // After one dump of a hang, wait for the next step; poll for it now and then.
  const int64_t due = last == reported_step_ns_ ? now + no_step_ns_ : std::max(last + no_step_ns_, next_check_ns_);
  return std::max<int64_t>(due - now, 0);
}

void DumperThread::CheckForHang(int64_t now) {
  const int64_t last = last_step_ns_.load(std::memory_order_relaxed);
  if (last == reported_step_ns_ || now - last < no_step_ns_ || now < next_check_ns_) return;
  if (listener_->OnHang(now - last)) {
    reported_step_ns_ = last;
  } else {
    next_check_ns_ = now + no_step_ns_;
  }
}

}  // namespace opscope
