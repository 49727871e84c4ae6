// The results of a program are those that it has without us: thirty programs, built with opscope and
// without it, print the same. OPSCOPE_SOAK=1: twenty times.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "job.h"
#include "soak.h"

namespace {

TEST(Unchanged, AreTheResultsOfThirtyPrograms) {
  const int repetitions = InFull(20, 1);
  int runs = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (int number = 0; number < 30; ++number) {
      const Job plain = RunJob({RELIABILITY_UNCHANGED_PLAIN, std::to_string(number), "without"});
      ASSERT_EQ(plain.status, 0) << plain.description();
      for (const char* state : {"open", "stopped", "exporting"}) {
        const Job job = RunJob({RELIABILITY_UNCHANGED, std::to_string(number), state});
        EXPECT_EQ(job.status, plain.status) << state << ": " << job.description();
        EXPECT_EQ(job.output, plain.output) << state;
        ++runs;
      }
    }
  }
  std::printf("30 programs x 3 states x %d: %d outputs and statuses compared\n", repetitions, runs);
}

}  // namespace
