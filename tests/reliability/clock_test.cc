// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "job.h"

namespace {

TEST(Clock, TheTimeOfDaySetBackWhileRecordingChangesNoTime) {
  const Job job = RunJob({RELIABILITY_CLOCK_SET_BACK, testing::TempDir() + "clock_set_back.opscope"});
  EXPECT_EQ(job.status, 0) << job.description();
  EXPECT_EQ(job.output, "40000 spans, none negative: 1, in order: 1, below a minute: 1\n");
}

}  // namespace
