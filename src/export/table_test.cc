// SPDX-License-Identifier: Apache-2.0
#include "opscope/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

std::vector<std::string> NamesOf(const TableView& table) {
  std::vector<std::string> names;
  for (const TableColumn& column : table.columns)
    names.emplace_back(column.name);
  return names;
}

TEST(Table, SaysWhichKindEachNumberIs) {
  const Trace trace;
  const TableColumn kind = ColumnNamed(FindTable(trace, "spans").value(), "kind");
  for (size_t i = 0; i < kSpanKinds; ++i) {
    const std::string words = " " + std::to_string(i) + " " + std::string(SpanKindName(static_cast<SpanKind>(i)));
    EXPECT_THAT(std::string(kind.documentation), testing::HasSubstr(words));
  }
}

TEST(Table, ListsEveryTableAndColumnOnce) {
  const Trace trace;
  EXPECT_EQ(TableNames().size(), 20u);
  for (const std::string_view name : TableNames()) {
    const TableView table = *FindTable(trace, name);
    EXPECT_EQ(table.name, name);
    EXPECT_FALSE(table.documentation.empty()) << name;
    std::vector<std::string> names = NamesOf(table);
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::unique(names.begin(), names.end()), names.end()) << name;
  }
  EXPECT_EQ(NamesOf(*FindTable(trace, "launches")), (std::vector<std::string>{"span", "launcher"}));
}

// A number in files is never used twice within a table.
TEST(Table, StoresEachColumnUnderANumberOfItsOwn) {
#define OPSCOPE_TABLE(Name, name, number, documentation)                            \
  {                                                                                 \
    std::vector<uint32_t> numbers;                                                  \
    Name##Description::ForEach([&](auto column) {                                   \
      if (column.kNumber != 0) numbers.push_back(column.kNumber);                   \
    });                                                                             \
    std::sort(numbers.begin(), numbers.end());                                      \
    EXPECT_EQ(std::unique(numbers.begin(), numbers.end()), numbers.end()) << #name; \
  }
#include "opscope/trace_tables.def"
}

TEST(Table, SaysWhatHandlesReferTo) {
  const Trace trace;
  const TableView spans = *FindTable(trace, "spans");
  EXPECT_EQ(ColumnNamed(spans, "track").refers_to, "tracks");
  EXPECT_EQ(ColumnNamed(spans, "args").refers_to, "arguments");
  EXPECT_EQ(ColumnNamed(spans, "start").refers_to, "");
  for (const std::string_view name : TableNames()) {
    const TableView table = *FindTable(trace, name);
    for (const TableColumn& column : table.columns) {
      EXPECT_EQ(column.meaning == ColumnMeaning::kHandle, FindTable(trace, column.refers_to).has_value())
          << column.name;
      EXPECT_FALSE(column.documentation.empty()) << name << "." << column.name;
    }
  }
}

TEST(Table, TellsUnknownValuesFromKnownOnes) {
  const Trace trace = TwoSpans();
  const TableView spans = *FindTable(trace, "spans");
  EXPECT_TRUE(IsUnknown(ColumnNamed(spans, "sequence"), 0));
  EXPECT_TRUE(IsUnknown(ColumnNamed(spans, "scope"), 0));
  EXPECT_TRUE(IsUnknown(ColumnNamed(spans, "parent"), 0));
  EXPECT_FALSE(IsUnknown(ColumnNamed(spans, "parent"), 1));
  EXPECT_FALSE(IsUnknown(ColumnNamed(spans, "depth"), 0));
  EXPECT_TRUE(IsUnknown(ColumnNamed(*FindTable(trace, "processes"), "sort_index"), 0));
  EXPECT_FALSE(IsUnknown(ColumnNamed(*FindTable(trace, "processes"), "pid"), 0));
}

TEST(Table, HasARowPerArgumentAndPerTensorOfAList) {
  TraceBuilder builder;
  const StringId type = builder.Intern("float");
  const int64_t sizes[] = {2, 3}, strides[] = {3, 1};
  const ArgumentRow tensor{
      .kind = ArgumentKind::kTensor, .dtype = type, .has_strides = true, .sizes = sizes, .strides = strides};
  const ArgumentRow list[] = {tensor, {.kind = ArgumentKind::kUndefined}};
  const ArgumentRow arguments[] = {{.kind = ArgumentKind::kScalar, .value = builder.Intern("7")},
                                   {.kind = ArgumentKind::kTensorList, .tensors = list}};
  builder.AddArguments(std::span(&tensor, 1));
  builder.AddArguments(arguments);
  const Trace trace = builder.Build();
  const ArgumentValueColumns& rows = trace.arguments();
  ASSERT_EQ(rows.size(), 5u);
  const auto rows_of = [&](auto column) { return std::vector(column.begin(), column.end()); };
  EXPECT_EQ(rows_of(rows.list), (std::vector{ArgsId{0}, ArgsId{1}, ArgsId{1}, ArgsId{1}, ArgsId{1}}));
  EXPECT_EQ(rows_of(rows.position), (std::vector<uint32_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(rows_of(rows.element), (std::vector<int32_t>{-1, -1, -1, 0, 1}));
  EXPECT_EQ(rows_of(rows.sizes[3]), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(rows_of(rows.strides[0]), (std::vector<int64_t>{3, 1}));
  EXPECT_TRUE(rows.sizes[4].empty());
  EXPECT_EQ(trace.text(rows.value[1]), "7");
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
