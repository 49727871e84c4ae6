// A window pauses: what CUPTI has of the program's work rests while no window records.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sources/cuda/cupti_verdict.h"
#include "sources/cuda/holder.h"
#include "sources/cuda/timed_calls.h"

namespace opscope::cuda {
namespace {

using cupti::ActivityKind;
using cupti::Result;

constexpr std::chrono::milliseconds kForPause{2000};

// What tells of devices, contexts and streams goes on: a stream that is made meanwhile is used later.
bool Rests(ActivityKind kind) {
  return kind != ActivityKind::kDevice && kind != ActivityKind::kContext && kind != ActivityKind::kStream;
}

}  // namespace

std::string Holder::Rest(Deadline deadline) {
  using Answers = std::vector<std::pair<ActivityKind, Result>>;
  std::vector<ActivityKind> kinds;
  for (const ActivityKind kind : enabled_) {
    if (Rests(kind)) kinds.push_back(kind);
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
      continue;
    }
    const char* name = nullptr;
    library_->call.GetResultString(answer, &name);
    failed = "cuptiActivityDisable: " + NameOfCode(answer, name);
  }
  return failed;
}

std::string Holder::Wake(uint32_t flags, Deadline deadline) {
  const auto why = std::make_shared<std::string>();
  const bool is_over = RunBefore(deadline, [this, why, flags] { *why = EnableKinds(flags); });
  return is_over ? *why : "cuptiActivityEnable: no answer";
}

// The time of a pause is around that in which CUPTI rests, and around the waits, which are nobody's work.
void Holder::Pause(const std::shared_ptr<DeviceWindow>& window, bool paused) {
  if (is_forked_.load()) return;
  const Deadline deadline = std::chrono::steady_clock::now() + kForPause;
  const std::unique_lock lock(mutex_, deadline);
  if (!lock.owns_lock() || window->is_paused() == paused) return;
  const ClockPair before = ReadClockPair();
  WaitForDevice();
  std::string failed;
  if (paused) {
    if (!collector_->Visit(deadline, [&] { window->Pause(before); })) return;
    if (++paused_ == open_) failed = Rest(deadline);
  } else {
    failed = Wake(window->flags(), deadline);
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
