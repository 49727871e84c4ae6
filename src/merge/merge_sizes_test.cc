// The merge of as many rows as jobs have: on either side of every size at which the memory of a column changes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "opscope/merge.h"
#include "trace/builder.h"

namespace opscope {
namespace {

constexpr int64_t kEpochNs = 1'790'000'000'000'000'000;

Timestamp StartOf(int32_t rank, size_t row) {
  return {static_cast<int64_t>(row) * 10 + rank};
}

// A rank of a job whose columns are all written, so that none is left out of the growth.
MergeInput RankOf(int32_t rank, size_t spans) {
  TraceBuilder builder;
  builder.info().epoch_ns = kEpochNs;
  const ProcessId process = builder.AddProcess({.pid = rank + 1, .sort_index = rank, .rank = rank});
  const TrackId track = builder.AddTrack({.process = process, .tid = 1, .logical_thread = 1});
  const StringId names[] = {builder.Intern("aten::add"), builder.Intern("aten::mul")};
  for (size_t row = 0; row < spans; ++row) {
    builder.AddSpan({.start = StartOf(rank, row),
                     .duration = {5},
                     .name = names[row % 2],
                     .overload = names[0],
                     .track = track,
                     .flags = span_flags::kUnfinished,
                     .scope = ScopeType::kUserScope,
                     .sequence = static_cast<int64_t>(row),
                     .forward_thread = 1,
                     .correlation = static_cast<uint32_t>(row) + 1,
                     .external_id = static_cast<uint32_t>(row) + 1,
                     .extra = names[1]});
  }
  return {builder.Build(), "rank" + std::to_string(rank), rank};
}

// The sum of what any input has: by rank and row.
void ExpectWhole(const Trace& trace, const std::vector<size_t>& counts) {
  const SpanColumns& spans = trace.spans();
  size_t at = 0, wrong = 0;
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    for (size_t row = 0; row < counts[rank] && at < spans.size(); ++row, ++at) {
      const bool is_right = spans.start[at] == StartOf(static_cast<int32_t>(rank), row) && spans.duration[at].ns == 5 &&
                            spans.sequence[at] == static_cast<int64_t>(row) &&
                            trace.text(spans.name[at]) == (row % 2 == 0 ? "aten::add" : "aten::mul") &&
                            trace.text(spans.extra[at]) == "aten::mul" && spans.scope[at] == ScopeType::kUserScope;
      wrong += is_right ? 0 : 1;
    }
  }
  EXPECT_EQ(at, spans.size());
  EXPECT_EQ(wrong, 0u);
}

TEST(MergeSizes, HoldsAllSpansOnEitherSideOfEveryStepOfGrowth) {
  // 256 KiB and 2 MiB of the rows of 8, 4, 2 and 1 bytes.
  for (const size_t step : {size_t{1} << 15, size_t{1} << 16, size_t{1} << 17, size_t{1} << 18, size_t{1} << 19}) {
    const std::vector<size_t> counts = {step / 3, step - 1 - step / 3, 1, 1, step / 2 + 7, 1};
    std::vector<MergeInput> inputs;
    size_t all = 0;
    for (size_t rank = 0; rank < counts.size(); ++rank) {
      inputs.push_back(RankOf(static_cast<int32_t>(rank), counts[rank]));
      all += counts[rank];
    }
    const Result<Merged> merged = MergeTraces(std::move(inputs));
    ASSERT_TRUE(merged.ok()) << all << " spans: " << merged.error().message;
    ASSERT_EQ(merged.value().trace.spans().size(), all);
    ExpectWhole(merged.value().trace, counts);
  }
}

}  // namespace
}  // namespace opscope
