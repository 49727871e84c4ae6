// When to record: which steps of a program are skipped, warmed up and recorded, and what has to be
// done when one step's action gives way to the next one's. `torch.profiler.schedule` and
// `paddle.profiler.make_scheduler` are this Schedule under two names; opscope::Profiler and the
// Python front ends obey the one table below.
//
// Any callable int64 -> Action can stand in for a Schedule. It may look at the clock or at the
// program's state; this one records one step in every ten seconds:
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

enum class Action : uint8_t {
  kNone = 0,
  kWarmup = 1,         // get ready: nothing is kept
  kRecord = 2,         // record, and go on recording in the next step
  kRecordAndSave = 3,  // record; at the end of the step the recording is complete
};

// `skip_first` steps of nothing, then cycles of `wait` steps of nothing, `warmup` and `active` ones;
// the last active step of a cycle is kRecordAndSave. `repeat` cycles, 0: for ever.
// skip_first_wait other than 0 leaves out the first cycle's wait (all cycles move to the left).
struct Schedule {
  int64_t wait = 0;
  int64_t warmup = 0;
  int64_t active = 1;
  int64_t repeat = 0;
  int64_t skip_first = 0;
  int64_t skip_first_wait = 0;

  // kInvalidArgument: a negative number, or no active step.
  [[nodiscard]] Status Validate() const;

  // REQUIRES: Validate().ok(). Steps below 0 have no action.
  [[nodiscard]] Action At(int64_t step) const;
  Action operator()(int64_t step) const { return At(step); }
};

// One thing to do, in the order in which TransitionPlan lists them.
enum class TransitionStep : uint8_t {
  kWarnWarmupThenNone,  // the schedule is wrong; say so (TransitionWarning) and go on
  kWarnRecordThenNone,
  kWarnRecordThenWarmup,
  kPrepare,  // warm up: allocate, touch memory
  kStart,    // record from here on
  kStop,     // stop recording
  kReady,    // hand the recording to the user's handler
};

struct TransitionPlan {
  uint8_t count = 0;
  TransitionStep steps[4] = {};

  const TransitionStep* begin() const { return steps; }
  const TransitionStep* end() const { return steps + count; }
};

// What to do between a step of action `previous` and one of action `next`; no `next`: the end (stop).
// At the start `previous` is kNone. As in torch.profiler, with one difference: kRecord -> kWarmup
// prepares again after it stopped, so that a following kRecord works (the original crashes there).
[[nodiscard]] TransitionPlan Transition(Action previous, std::optional<Action> next);

// "Incorrect schedule: RECORD followed by NONE"; null for what is no warning.
[[nodiscard]] const char* TransitionWarning(TransitionStep step);

}  // namespace opscope
