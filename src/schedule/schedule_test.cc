// SPDX-License-Identifier: Apache-2.0
#include "opscope/schedule.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace opscope {
namespace {

// N nothing, W warm-up, R record, S record and save.
std::string Actions(const Schedule& schedule, int64_t steps) {
  std::string text;
  for (int64_t step = 0; step < steps; ++step)
    text += "NWRS"[static_cast<int>(schedule.At(step))];
  return text;
}

// P prepare, S start, X stop, T ready, and the warnings 1 (warm-up, none), 2 (record, none), 3 (record, warm-up).
std::string Plan(Action previous, std::optional<Action> next) {
  std::string text;
  for (TransitionStep step : Transition(previous, next))
    text += "123PSXT"[static_cast<int>(step)];
  return text;
}

TEST(Schedule, FollowsTheCycleOfWaitWarmupActive) {
  EXPECT_EQ(Actions({.wait = 1, .warmup = 1, .active = 2}, 9), "NWRSNWRSN");
}

TEST(Schedule, SkipFirstWaitLeavesOutTheFirstWaitOnly) {
  const Schedule schedule{.wait = 5, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 3, .skip_first_wait = 1};
  EXPECT_EQ(Actions(schedule, 18), "NNNWRSNNNNNWRSNNNN");
}

TEST(Schedule, OneActiveStepIsSavedAtOnce) {
  EXPECT_EQ(Actions({.active = 1}, 4), "SSSS");
  EXPECT_EQ(Actions({.wait = 1, .active = 1}, 4), "NSNS");
}

TEST(Schedule, StopsAfterTheRepeats) {
  EXPECT_EQ(Actions({.warmup = 1, .active = 1, .repeat = 2}, 7), "WSWSNNN");
  EXPECT_EQ(Actions({.warmup = 1, .active = 1, .repeat = 2, .skip_first = 2}, 8), "NNWSWSNN");
}

TEST(Schedule, CountsOfRecordedStepsAreThoseOfTheOriginal) {
  struct Row {
    int64_t warmup, active, repeat;
    int recorded;
  };
  for (const Row& row : {Row{0, 1, 1, 1}, Row{0, 5, 0, 100}, Row{0, 5, 10, 50}, Row{1, 5, 0, 83}, Row{10, 10, 4, 40},
                         Row{50, 1, 0, 1}}) {
    const Schedule schedule{.warmup = row.warmup, .active = row.active, .repeat = row.repeat};
    int recorded = 0;
    for (int64_t step = 0; step < 100; ++step)
      recorded += schedule.At(step) >= Action::kRecord;
    EXPECT_EQ(recorded, row.recorded) << row.warmup << " " << row.active << " " << row.repeat;
  }
}

TEST(Schedule, HugeNumbersDoNotOverflow) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const Schedule schedule{.wait = kMax, .warmup = kMax, .active = kMax, .repeat = kMax, .skip_first_wait = 1};
  EXPECT_TRUE(schedule.Validate().ok());
  EXPECT_EQ(schedule.At(0), Action::kWarmup);
  EXPECT_EQ(schedule.At(kMax), Action::kRecord);
}

TEST(Schedule, ANegativeStepHasNoAction) {
  EXPECT_EQ(Schedule{}.At(-1), Action::kNone);
}

TEST(Schedule, RefusesNegativeNumbersAndNoActiveStep) {
  EXPECT_TRUE(Schedule{}.Validate().ok());
  const Status status = Schedule{.active = 0}.Validate();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(status.error().message, "schedule: active must be at least 1, not 0");
  for (const Schedule& wrong : {Schedule{.wait = -1}, Schedule{.warmup = -1}, Schedule{.repeat = -1},
                                Schedule{.skip_first = -1}, Schedule{.skip_first_wait = -1}}) {
    EXPECT_FALSE(wrong.Validate().ok());
  }
}

TEST(Transition, IsTheTableOfTheOriginalButForRecordToWarmup) {
  constexpr Action kActions[] = {Action::kNone, Action::kWarmup, Action::kRecord, Action::kRecordAndSave};
  const std::vector<std::vector<std::string>> expected = {
      {"", "P", "PS", "PS", ""},
      {"1SX", "", "S", "S", "SX"},
      {"2X", "3XP", "", "", "XT"},  // the original has no P here and crashes at the next start
      {"XT", "XTP", "XTPS", "XTPS", "XT"},
  };
  for (size_t previous = 0; previous < 4; ++previous) {
    for (size_t next = 0; next < 4; ++next) {
      EXPECT_EQ(Plan(kActions[previous], kActions[next]), expected[previous][next]) << previous << " " << next;
    }
    EXPECT_EQ(Plan(kActions[previous], std::nullopt), expected[previous][4]) << previous;
  }
}

TEST(Transition, NeverStartsTwiceOrStopsWhatDoesNotRun) {
  // Every sequence of four actions, then the end: starts and stops must alternate, and each start be prepared.
  for (int code = 0; code < 256; ++code) {
    Action previous = Action::kNone;
    bool running = false, prepared = false;
    for (int place = 0; place <= 4; ++place) {
      std::optional<Action> next;
      if (place < 4) next = static_cast<Action>(code >> (2 * place) & 3);
      for (TransitionStep step : Transition(previous, next)) {
        if (step == TransitionStep::kPrepare) prepared = true;
        if (step == TransitionStep::kStart) {
          EXPECT_TRUE(prepared && !running) << code;
          running = true;
        }
        if (step == TransitionStep::kStop) {
          EXPECT_TRUE(running) << code;
          running = prepared = false;
        }
      }
      previous = next.value_or(Action::kNone);
    }
    EXPECT_FALSE(running) << code;
  }
}

TEST(Transition, AnActionOutOfRangeDoesNothing) {
  EXPECT_EQ(Transition(static_cast<Action>(9), Action::kNone).count, 0);
  EXPECT_EQ(Transition(Action::kNone, static_cast<Action>(200)).count, 0);
}

TEST(Transition, WarningsAreTheWordsOfTheOriginal) {
  EXPECT_STREQ(TransitionWarning(TransitionStep::kWarnRecordThenWarmup),
               "Incorrect schedule: RECORD followed by WARMUP");
  EXPECT_EQ(TransitionWarning(TransitionStep::kStart), nullptr);
}

}  // namespace
}  // namespace opscope
