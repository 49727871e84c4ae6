// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/quality.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

TEST(Quality, NamesEventsDroppedAtTheCapBesideAnotherLoss) {
  TraceBuilder builder;
  builder.AddProblem("truncated", 7);
  builder.AddProblem("dropped_at_cap", 0, 3);
  const Quality quality = JudgeQuality(builder.Build());
  EXPECT_EQ(quality.verdict, Verdict::kDoubtful);
  EXPECT_EQ(quality.reasons, (std::vector<std::string>{"problem truncated", "problem dropped_at_cap (3 times)"}));
}

}  // namespace
}  // namespace opscope
