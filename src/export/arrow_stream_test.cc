// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/arrow.h"
#include "opscope/table.h"
#include "trace/builder.h"

namespace opscope {
namespace {

std::shared_ptr<const Trace> MakeTrace(size_t spans, std::string_view last_name = "last") {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (size_t i = 0; i < spans; ++i) {
    const auto start = static_cast<int64_t>(i * 10);
    const std::string name = i + 1 == spans ? std::string(last_name) : "op" + std::to_string(i % 3);
    builder.AddSpan({.start = {start},
                     .duration = {5},
                     .name = builder.Intern(name),
                     .overload = i % 2 == 0 ? StringId::kNone : builder.Intern("out"),
                     .track = track});
  }
  return std::make_shared<Trace>(builder.Build());
}

// What a reader holds of one table; released like a reader would.
struct Reading {
  ArrowArrayStream stream = {};
  ArrowSchema schema = {};
  ArrowArray array = {};
  ~Reading() {
    if (array.release != nullptr) array.release(&array);
    if (schema.release != nullptr) schema.release(&schema);
    if (stream.release != nullptr) stream.release(&stream);
  }
  void Open(std::shared_ptr<const Trace> trace, std::string_view table) {
    ASSERT_TRUE(OpenArrowStream(std::move(trace), table, &stream).ok());
    ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
    ASSERT_EQ(stream.get_next(&stream, &array), 0);
  }
  int64_t Find(std::string_view name) const {
    for (int64_t i = 0; i < schema.n_children; ++i) {
      if (schema.children[i]->name == name) return i;
    }
    ADD_FAILURE() << "no column " << name;
    return 0;
  }
};

bool IsValid(const ArrowArray& column, int64_t row) {
  const auto* bits = static_cast<const uint8_t*>(column.buffers[0]);
  return bits == nullptr || (bits[row / 8] >> (row % 8) & 1) != 0;
}

std::string TextOf(const ArrowArray& column, int64_t row) {
  if (!IsValid(column, row)) return "<null>";
  const int32_t code = static_cast<const int32_t*>(column.buffers[1])[row];
  const auto* offsets = static_cast<const int64_t*>(column.dictionary->buffers[1]);
  const auto* characters = static_cast<const char*>(column.dictionary->buffers[2]);
  return {characters + offsets[code], characters + offsets[code + 1]};
}

TEST(ArrowStream, GivesOneBatchWithTheTablesColumns) {
  const auto trace = MakeTrace(20);
  Reading reading;
  reading.Open(trace, "spans");
  EXPECT_STREQ(reading.schema.format, "+s");
  ASSERT_EQ(reading.schema.n_children, reading.array.n_children);
  EXPECT_EQ(static_cast<size_t>(reading.array.n_children), FindTable(*trace, "spans")->columns.size());
  EXPECT_EQ(reading.array.length, 20);
  EXPECT_STREQ(reading.schema.children[reading.Find("start")]->format, "l");
  EXPECT_STREQ(reading.schema.children[reading.Find("depth")]->format, "S");
  ArrowArray second = {};
  ASSERT_EQ(reading.stream.get_next(&reading.stream, &second), 0);
  EXPECT_EQ(second.release, nullptr) << "the end of the stream";
}

TEST(ArrowStream, DoesNotCopyNumbers) {
  const auto trace = MakeTrace(3);
  Reading reading;
  reading.Open(trace, "spans");
  EXPECT_EQ(reading.array.children[reading.Find("start")]->buffers[1], trace->spans().start.data());
  EXPECT_EQ(reading.array.children[reading.Find("parent")]->buffers[1], trace->spans().parent.data());
}

TEST(ArrowStream, MarksWhatStandsForNothingAsNull) {
  Reading reading;
  reading.Open(MakeTrace(20), "spans");
  const ArrowArray& parents = *reading.array.children[reading.Find("parent")];
  EXPECT_EQ(parents.null_count, 20);
  const ArrowArray& overloads = *reading.array.children[reading.Find("overload")];
  EXPECT_EQ(overloads.null_count, 10);
  EXPECT_EQ(TextOf(overloads, 0), "<null>");
  EXPECT_EQ(TextOf(overloads, 17), "out");
  EXPECT_EQ(reading.array.children[reading.Find("start")]->null_count, 0);
}

TEST(ArrowStream, MarksUnknownNumbersAsNullWithoutCopyingTheOthers) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  builder.AddTrack({.process = process, .tid = 1});
  builder.AddTrack({.process = process, .tid = 2, .device = 3});
  const auto trace = std::make_shared<Trace>(builder.Build());
  Reading reading;
  reading.Open(trace, "tracks");
  const ArrowArray& devices = *reading.array.children[reading.Find("device")];
  EXPECT_EQ(devices.null_count, 1);
  EXPECT_FALSE(IsValid(devices, 0));
  EXPECT_TRUE(IsValid(devices, 1));
  EXPECT_EQ(devices.buffers[1], trace->tracks().device.data());
  const ArrowArray& tids = *reading.array.children[reading.Find("tid")];
  EXPECT_EQ(tids.buffers[0], nullptr) << "no bitmap where nothing is unknown";
  EXPECT_EQ(reading.schema.children[reading.Find("tid")]->flags, 0);
}

TEST(ArrowStream, GivesSizesOfTensorsAsLists) {
  TraceBuilder builder;
  const int64_t sizes[] = {2, 3};
  const ArgumentRow arguments[] = {{.kind = ArgumentKind::kTensor, .sizes = sizes}, {.kind = ArgumentKind::kScalar}};
  builder.AddArguments(arguments);
  Reading reading;
  reading.Open(std::make_shared<Trace>(builder.Build()), "arguments");
  const int64_t at = reading.Find("sizes");
  EXPECT_STREQ(reading.schema.children[at]->format, "+l");
  const ArrowArray& lists = *reading.array.children[at];
  const auto* offsets = static_cast<const int32_t*>(lists.buffers[1]);
  EXPECT_EQ(std::vector<int32_t>(offsets, offsets + 3), (std::vector<int32_t>{0, 2, 2}));
  const auto* items = static_cast<const int64_t*>(lists.children[0]->buffers[1]);
  EXPECT_EQ(std::vector<int64_t>(items, items + 2), (std::vector<int64_t>{2, 3}));
}

TEST(ArrowStream, GivesTextsAsDictionaries) {
  Reading reading;
  reading.Open(MakeTrace(8), "spans");
  const ArrowArray& names = *reading.array.children[reading.Find("name")];
  EXPECT_STREQ(reading.schema.children[reading.Find("name")]->dictionary->format, "U");
  EXPECT_EQ(names.dictionary->length, 4);
  EXPECT_EQ(TextOf(names, 4), "op1");
  EXPECT_EQ(TextOf(names, 7), "last");
}

TEST(ArrowStream, EscapesBytesThatAreNotUtf8) {
  Reading reading;
  reading.Open(MakeTrace(1, "a\xff\xf0\x9f\x98\x80z"), "spans");
  EXPECT_EQ(TextOf(*reading.array.children[reading.Find("name")], 0), "a\\udcff\xf0\x9f\x98\x80z");
}

TEST(ArrowStream, ColumnsOutliveTheBatchTheStreamAndTheTrace) {
  ArrowArray names = {};
  std::weak_ptr<const Trace> trace;
  {
    Reading reading;
    const auto made = MakeTrace(8);
    trace = made;
    reading.Open(made, "spans");
    // Moving is copying the structure and marking the source as released.
    ArrowArray& child = *reading.array.children[reading.Find("name")];
    names = child;
    child.release = nullptr;
  }
  EXPECT_FALSE(trace.expired());
  EXPECT_EQ(TextOf(names, 7), "last");
  names.release(&names);
  EXPECT_EQ(names.release, nullptr);
  EXPECT_TRUE(trace.expired());
}

TEST(ArrowStream, EmptyTablesHaveBuffersToPointAt) {
  Reading reading;
  reading.Open(std::make_shared<Trace>(), "counters");
  EXPECT_EQ(reading.array.length, 0);
  for (int64_t i = 0; i < reading.array.n_children; ++i)
    EXPECT_NE(reading.array.children[i]->buffers[1], nullptr);
}

TEST(ArrowStream, RefusesAnUnknownTableByName) {
  ArrowArrayStream stream = {};
  const Status status = OpenArrowStream(std::make_shared<Trace>(), "span", &stream);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(status.error().message, "no table named 'span'");
  EXPECT_EQ(stream.release, nullptr);
}

TEST(ArrowStream, WithoutMemoryForATableIsAnErrorAndThrowsNothing) {
  TableView table{.name = "t", .rows = size_t{1} << 62};
  table.columns.push_back({.name = "text", .type = ColumnType::kUint32, .meaning = ColumnMeaning::kText});
  ArrowArrayStream stream = {};
  OpenArrowStream(MakeTrace(1), std::move(table), &stream);
  ArrowArray array = {};
  EXPECT_EQ(stream.get_next(&stream, &array), ENOMEM);
  EXPECT_EQ(array.release, nullptr);
  EXPECT_STREQ(stream.get_last_error(&stream), "out of memory");
  stream.release(&stream);
}

}  // namespace
}  // namespace opscope
