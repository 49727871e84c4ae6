// When to record: which steps of a program are skipped, warmed up and recorded, and
// what happens between two steps. `torch.profiler.schedule` and
// `paddle.profiler.make_scheduler` are this Schedule under two names;
// opscope::Profiler and the Python front ends share the transition table below.
//
//   const opscope::Schedule schedule{.wait = 1, .warmup = 1, .active = 2, .repeat = 2};
//   // step    0     1       2       3     4     5       6       7     8 ...
//   // action  none  warmup  record  save  none  warmup  record  save  none
//
// Any callable int64 -> Action can replace a Schedule, and may look at the clock or
// the program's state. This one records one step in every ten seconds:
//
//   options.schedule = [next = Clock::now()](int64_t) mutable {
//     if (Clock::now() < next) return opscope::Action::kNone;
//     next = Clock::now() + std::chrono::seconds(10);
//     return opscope::Action::kRecordAndSave;
//   };
//
// Thread rule: immutable values and pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "opscope/result.h"

namespace opscope {

// What to do with one step.
enum class Action : uint8_t {
  kNone = 0,
  kWarmup = 1,         // get ready: nothing is kept
  kRecord = 2,         // record, and go on recording in the next step
  kRecordAndSave = 3,  // record; at the end of the step the recording is complete
};

// `skip_first` steps of kNone, then cycles of `wait`, `warmup` and `active` steps;
// the last active step of a cycle is kRecordAndSave. All numbers count steps.
struct Schedule {
  int64_t wait = 0;
  int64_t warmup = 0;
  int64_t active = 1;
  // Number of cycles; 0: without end.
  int64_t repeat = 0;
  int64_t skip_first = 0;
  // Other than 0: the first cycle has no `wait`, so all cycles move forward by it.
  int64_t skip_first_wait = 0;

  // kInvalidArgument: a negative number, or no active step.
  [[nodiscard]] Status Validate() const;

  // The action of a step, counted from 0; kNone for negative steps. O(1). REQUIRES:
  // Validate().ok()
  [[nodiscard]] Action At(int64_t step) const;
  Action operator()(int64_t step) const { return At(step); }
};

// One operation between two steps.
enum class TransitionStep : uint8_t {
  // The schedule is wrong; report TransitionWarning and go on.
  kWarnWarmupThenNone,
  kWarnRecordThenNone,
  kWarnRecordThenWarmup,
  // Warm up: allocate and touch memory.
  kPrepare,
  // Start recording.
  kStart,
  // Stop recording.
  kStop,
  // Hand the recording to the user's handler.
  kReady,
};

// The operations of one transition, in order.
struct TransitionPlan {
  uint8_t count = 0;
  TransitionStep steps[4] = {};

  const TransitionStep* begin() const { return steps; }
  const TransitionStep* end() const { return steps + count; }
};

// What to do between a step of action `previous` and one of action `next`; no
// `next`: at the end. At the start `previous` is kNone. As in torch.profiler, with
// one difference: kRecord -> kWarmup prepares again after the stop, so that a
// following kRecord works (torch crashes there).
[[nodiscard]] TransitionPlan Transition(Action previous, std::optional<Action> next);

// "Incorrect schedule: RECORD followed by NONE"; null if the operation is no
// warning.
[[nodiscard]] const char* TransitionWarning(TransitionStep step);

}  // namespace opscope
