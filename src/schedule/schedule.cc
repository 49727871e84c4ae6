// The transition table of torch.profiler, written as data: a row per action of the step that ends, a column
// per action of the step that begins. torch has it as a dictionary of lists of methods. One entry differs
// on purpose: RECORD -> WARMUP prepares again (schedule.h).
//
//   RECORD_AND_SAVE -> RECORD:  stop, hand over, prepare, start
//
// The action of a step follows from its position in the cycle, in 128-bit integers: sums of three user
// numbers cannot overflow.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/schedule.h"

#include <string>

namespace opscope {
namespace {

using enum TransitionStep;

// Rows: the step that ends. Columns: the step that begins, the last one is the end of profiling.
constexpr TransitionPlan kTransitions[4][5] = {
    // NONE -> NONE, WARMUP, RECORD, RECORD_AND_SAVE, end
    {{}, {1, {kPrepare}}, {2, {kPrepare, kStart}}, {2, {kPrepare, kStart}}, {}},
    // WARMUP: what was only warmed up is started and stopped, and thrown away
    {{3, {kWarnWarmupThenNone, kStart, kStop}}, {}, {1, {kStart}}, {1, {kStart}}, {2, {kStart, kStop}}},
    // RECORD
    {{2, {kWarnRecordThenNone, kStop}}, {3, {kWarnRecordThenWarmup, kStop, kPrepare}}, {}, {}, {2, {kStop, kReady}}},
    // RECORD_AND_SAVE
    {{2, {kStop, kReady}},
     {3, {kStop, kReady, kPrepare}},
     {4, {kStop, kReady, kPrepare, kStart}},
     {4, {kStop, kReady, kPrepare, kStart}},
     {2, {kStop, kReady}}},
};

Status RequireAtLeast(const char* name, int64_t value, int64_t least) {
  if (value >= least) return {};
  return Error{ErrorCode::kInvalidArgument, std::string("schedule: ") + name + " must be at least " +
                                                std::to_string(least) + ", not " + std::to_string(value)};
}

}  // namespace

Status Schedule::Validate() const {
  OPSCOPE_TRY(RequireAtLeast("wait", wait, 0));
  OPSCOPE_TRY(RequireAtLeast("warmup", warmup, 0));
  OPSCOPE_TRY(RequireAtLeast("active", active, 1));
  OPSCOPE_TRY(RequireAtLeast("repeat", repeat, 0));
  OPSCOPE_TRY(RequireAtLeast("skip_first", skip_first, 0));
  OPSCOPE_TRY(RequireAtLeast("skip_first_wait", skip_first_wait, 0));
  return {};
}

Action Schedule::At(int64_t step) const {
  if (step < 0 || step < skip_first) return Action::kNone;
  // 128 bits: any three lengths may be added without a thought.
  __int128 position = static_cast<__int128>(step) - skip_first;
  if (skip_first_wait != 0) position += wait;
  const __int128 cycle = static_cast<__int128>(wait) + warmup + active;
  if (cycle <= 0) return Action::kNone;
  if (repeat > 0 && position / cycle >= repeat) return Action::kNone;
  const __int128 phase = position % cycle;
  if (phase < wait) return Action::kNone;
  if (phase < static_cast<__int128>(wait) + warmup) return Action::kWarmup;
  return phase == cycle - 1 ? Action::kRecordAndSave : Action::kRecord;
}

TransitionPlan Transition(Action previous, std::optional<Action> next) {
  const auto row = static_cast<uint32_t>(previous);
  const auto column = next.has_value() ? static_cast<uint32_t>(*next) : 4u;
  if (row > 3 || column > 4) return {};  // a callable returned a number that is no Action
  return kTransitions[row][column];
}

const char* TransitionWarning(TransitionStep step) {
  switch (step) {
    case kWarnWarmupThenNone:
      return "Incorrect schedule: WARMUP followed by NONE";
    case kWarnRecordThenNone:
      return "Incorrect schedule: RECORD followed by NONE";
    case kWarnRecordThenWarmup:
      return "Incorrect schedule: RECORD followed by WARMUP";
    default:
      return nullptr;
  }
}

}  // namespace opscope
