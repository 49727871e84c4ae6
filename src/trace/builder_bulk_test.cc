// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "trace/builder.h"

namespace opscope {
namespace {

constexpr size_t kRows = 50'000;  // several megabytes of columns, which share a block

// Rows of a bulk, numbered from `first`; a field that is wanted holds the number.
void Fill(TraceBuilder* builder, TrackId track, size_t first, const SpanFields& wanted) {
  const SpanMemory rows = builder->AppendSpanRows(kRows, wanted);
  for (size_t i = 0; i < kRows; ++i) {
    const size_t number = first + i;
    rows.start[i] = {static_cast<int64_t>(number) * 10};
    rows.duration[i] = {5};
    rows.name[i] = rows.category[i] = StringId::kEmpty;
    rows.track[i] = track;
    rows.parent[i] = SpanId::kNone;
    rows.depth[i] = 0;
    if (wanted.external_id) rows.external_id[i] = static_cast<uint32_t>(number);
    if (wanted.sequence) rows.sequence[i] = static_cast<int64_t>(number);
    if (wanted.correlation) rows.correlation[i] = static_cast<uint32_t>(number);
  }
}

TEST(SpanRows, FieldsThatComeLateLeaveTheOthersAlone) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1})});
  Fill(&builder, track, 0, {.external_id = true});
  Fill(&builder, track, kRows, {.sequence = true});
  Fill(&builder, track, 2 * kRows, {.sequence = true, .correlation = true});
  const Trace trace = builder.Build();
  const SpanColumns& spans = trace.spans();
  ASSERT_EQ(spans.size(), 3 * kRows);
  for (size_t row = 0; row < spans.size(); ++row) {
    const auto number = static_cast<uint32_t>(row);
    ASSERT_EQ(spans.start[row].ns, static_cast<int64_t>(row) * 10);
    ASSERT_EQ(spans.duration[row].ns, 5);
    ASSERT_EQ(spans.track[row], track);
    ASSERT_EQ(spans.external_id[row], row < kRows ? number : 0) << row;
    ASSERT_EQ(spans.sequence[row], row < kRows ? -1 : static_cast<int64_t>(row)) << row;
    ASSERT_EQ(spans.correlation[row], row < 2 * kRows ? 0 : number) << row;
    ASSERT_EQ(spans.extra[row], StringId::kNone);
    ASSERT_EQ(spans.flags[row], 0);
  }
}

TEST(SpanRows, DroppedOnesLeaveNothingBehind) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1})});
  Fill(&builder, track, 0, {});
  Fill(&builder, track, kRows, {.external_id = true});
  builder.DropSpanRows(kRows);
  Fill(&builder, track, 7 * kRows, {});
  const Trace trace = builder.Build();
  ASSERT_EQ(trace.spans().size(), 2 * kRows);
  for (size_t row = 0; row < 2 * kRows; ++row)
    ASSERT_EQ(trace.spans().external_id[row], 0u) << row;
}

TEST(FlowRows, StandBetweenThoseThatWereAddedOneByOne) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1})});
  const AddedSpan later = builder.AddSpan({.start = {30}, .duration = {5}, .track = track});
  const AddedSpan earlier = builder.AddSpan({.start = {10}, .duration = {5}, .track = track});
  builder.AddFlow({.id = 1, .start_track = track, .end_track = track});
  const FlowMemory rows = builder.AppendFlowRows(3);
  for (size_t i = 0; i < 2; ++i) {
    rows.id[i] = 2 + i;
    rows.category[i] = rows.name[i] = StringId::kEmpty;
    rows.start_time[i] = {12}, rows.end_time[i] = {32};
    rows.start_track[i] = rows.end_track[i] = track;
  }
  rows.start_span[0] = static_cast<SpanId>(earlier), rows.end_span[0] = static_cast<SpanId>(later);
  rows.start_span[1] = rows.end_span[1] = SpanId::kNone;
  builder.DropFlowRows(1);
  builder.AddFlow({.id = 4, .start_track = track, .end_track = track});
  const Trace trace = builder.Build();
  const FlowColumns& flows = trace.flows();
  ASSERT_EQ(flows.size(), 4u);
  for (size_t i = 0; i < flows.size(); ++i)
    EXPECT_EQ(flows.id[i], i + 1);
  for (const size_t i : {1u, 2u}) {
    EXPECT_EQ(flows.start_span[i], SpanId{0});
    EXPECT_EQ(flows.end_span[i], SpanId{1});
    EXPECT_EQ(flows.end_time[i].ns, 32);
  }
}

}  // namespace
}  // namespace opscope
