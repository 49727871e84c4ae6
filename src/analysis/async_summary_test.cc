// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/async_summary.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace opscope {
namespace {

// Texts of a file may stand in a damaged block.
TEST(AsyncSummary, TakesAnUnknownNameForTheEmptyOne) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const StringId name : {StringId::kNone, builder.Intern("read"), StringId::kEmpty})
    builder.AddAsyncSpan({.start = {0}, .duration = {4}, .name = name, .track = track});
  const Trace trace = builder.Build();
  const std::vector<AsyncSummaryRow> rows = SummarizeAsyncSpans(trace);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, StringId::kEmpty);
  EXPECT_EQ(rows[0].count, 2u);
  EXPECT_EQ(rows[0].total_ns, 8);
  EXPECT_EQ(trace.text(rows[1].name), "read");
}

}  // namespace
}  // namespace opscope
