// SPDX-License-Identifier: Apache-2.0
#include "opscope/table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

Trace TwoSpans() {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 7}), .tid = 8});
  builder.AddSpan({.start = {10}, .duration = {90}, .name = builder.Intern("outer"), .track = track});
  builder.AddSpan({.start = {20},
                   .duration = {30},
                   .name = builder.Intern("inner"),
                   .overload = builder.Intern("out"),
                   .track = track});
  return builder.Build();
}

TableColumn ColumnNamed(const TableView& table, std::string_view name) {
  for (const TableColumn& column : table.columns) {
    if (column.name == name) return column;
  }
  ADD_FAILURE() << "no column " << name;
  return {};
}

// Every member of a columns struct is one span, so its size tells how many there are.
template <typename Columns>
constexpr size_t MembersOf() {
  return sizeof(Columns) / sizeof(std::span<const int64_t>);
}

TEST(Table, ListsEveryColumnOfEveryTable) {
  const Trace trace;
  const std::vector<size_t> expected = {
      MembersOf<ProcessColumns>(),    MembersOf<TrackColumns>(),      MembersOf<SpanColumns>(),
      MembersOf<AsyncSpanColumns>(),  MembersOf<InstantColumns>(),    MembersOf<CounterColumns>(),
      MembersOf<FlowColumns>(),       MembersOf<AllocationColumns>(), MembersOf<StepColumns>(),
      MembersOf<FrameColumns>(),      MembersOf<StackColumns>(),      MembersOf<PythonCallColumns>(),
      MembersOf<ProblemColumns>(),    MembersOf<MetadataColumns>(),   MembersOf<TensorColumns>(),
      MembersOf<HeldTensorColumns>(), MembersOf<OperatorColumns>(),   MembersOf<TensorLifeColumns>()};
  ASSERT_EQ(TableNames().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(FindTable(trace, TableNames()[i])->columns.size(), expected[i]) << TableNames()[i];
  }
}

TEST(Table, PointsAtTheColumnsOfTheTrace) {
  const Trace trace = TwoSpans();
  const TableView spans = *FindTable(trace, "spans");
  EXPECT_EQ(spans.rows, 2u);
  EXPECT_EQ(ColumnNamed(spans, "start").data, trace.spans().start.data());
  EXPECT_EQ(ColumnNamed(spans, "start").type, ColumnType::kInt64);
  EXPECT_EQ(ColumnNamed(spans, "depth").type, ColumnType::kUint16);
  EXPECT_EQ(ColumnNamed(spans, "scope").type, ColumnType::kUint8);
  EXPECT_EQ(ColumnNamed(spans, "name").meaning, ColumnMeaning::kText);
  EXPECT_EQ(ColumnNamed(spans, "parent").meaning, ColumnMeaning::kHandle);
  EXPECT_EQ(ColumnNamed(spans, "correlation").meaning, ColumnMeaning::kValue);
}

TEST(Table, IsAbsentUnderAnotherName) {
  EXPECT_FALSE(FindTable(Trace(), "span"));
}

TEST(Table, EncodesEachTextOnceInOrderOfAppearance) {
  const Trace trace = TwoSpans();
  const TableView spans = *FindTable(trace, "spans");
  const TextDictionary names = EncodeTexts(trace, spans, ColumnNamed(spans, "name"));
  EXPECT_EQ(names.codes, (std::vector<int32_t>{0, 1}));
  ASSERT_EQ(names.texts.size(), 2u);
  EXPECT_EQ(trace.text(names.texts[1]), "inner");
  const TextDictionary overloads = EncodeTexts(trace, spans, ColumnNamed(spans, "overload"));
  EXPECT_EQ(overloads.codes, (std::vector<int32_t>{-1, 0}));
}

}  // namespace
}  // namespace opscope
