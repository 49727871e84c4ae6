// Pauses: CUPTI's kinds are disabled while every open window is paused.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sources/cuda/cupti_session.h"
#include "sources/cuda/timed_calls.h"

namespace opscope::cuda {
namespace {

using cupti::ActivityKind;
using cupti::Result;

constexpr std::chrono::milliseconds kForPause{2000};

// Kinds that describe devices, contexts and streams stay enabled: a stream that is created in a pause may be used
// later.
bool IsSuspended(ActivityKind kind) {
  return kind != ActivityKind::kDevice && kind != ActivityKind::kContext && kind != ActivityKind::kStream;
}

}  // namespace

std::string CuptiSession::Suspend(Deadline deadline) {
  using Answers = std::vector<std::pair<ActivityKind, Result>>;
  if (!WaitForCall(deadline)) return "cuptiActivityDisable: no answer";
  std::vector<ActivityKind> kinds;
  for (const ActivityKind kind : enabled_) {
    if (IsSuspended(kind)) kinds.push_back(kind);
  }
  const auto answers = std::make_shared<Answers>();
  const bool is_over = RunBefore(deadline, [library = library_, kinds, answers] {
    for (const ActivityKind kind : kinds)
      answers->emplace_back(kind, library->call.ActivityDisable(kind));
  });
  if (!is_over) return "cuptiActivityDisable: no answer";
  std::string failed;
  for (const auto& [kind, answer] : *answers) {
    if (answer == Result::kSuccess) {
      enabled_.erase(kind);
    } else {
      failed = "cuptiActivityDisable: " + library_->NameOf(answer);
    }
  }
  return failed;
}

std::string CuptiSession::Resume(uint32_t flags, Deadline deadline) {
  if (!WaitForCall(deadline)) return "cuptiActivityEnable: no answer";
  const auto why = std::make_shared<std::string>();
  const bool is_over = RunCall(deadline, [this, why, flags] {
    mutex_.AssertHeld();
    *why = EnableKinds(flags);
  });
  return is_over ? *why : "cuptiActivityEnable: no answer";
}

// A pause lasts from before the kinds are disabled until after they are enabled, including the waits for the device.
void CuptiSession::Pause(const std::shared_ptr<DeviceWindow>& window, bool paused) {
  if (is_forked_.load()) return;
  const Deadline deadline = After(kForPause);
  if (!mutex_.try_lock_until(deadline)) return;
  const TimedMutexLock lock(mutex_, std::adopt_lock);
  if (window->is_paused() == paused) return;
  const ClockPair before = ReadClockPair();
  WaitForDevice();
  std::string failed;
  if (paused) {
    if (!collector_->Visit(deadline, [&] { window->Pause(before); })) return;
    if (++paused_ == open_) failed = Suspend(deadline);
  } else {
    failed = Resume(window->flags(), deadline);
    const ClockPair after = ReadClockPair();
    if (collector_->Visit(deadline, [&] { window->Resume(after); })) --paused_;
  }
  if (failed.empty()) return;
  collector_->Visit(deadline, [&] {
    ++window->problems().failed_calls[failed];
    window->problems().lost_by_failed_calls = window->problems().lost_by_failed_calls || !paused;
  });
}

}  // namespace opscope::cuda
