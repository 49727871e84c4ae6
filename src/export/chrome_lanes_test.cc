// SPDX-License-Identifier: Apache-2.0
#include "export/chrome_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/builder.h"

namespace opscope {
namespace {

struct WrittenSpan {
  std::string name;
  int64_t start, end;
  bool operator==(const WrittenSpan&) const = default;
  auto operator<=>(const WrittenSpan&) const = default;
};

// Spans of each row of the file as a reader sees them that does not know what "opscope.tracks" says.
std::map<std::string, std::vector<WrittenSpan>> RowsOf(const std::string& json) {
  std::string foreign = json;
  if (const size_t at = foreign.find("opscope.tracks"); at != std::string::npos) foreign.replace(at, 7, "another");
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(foreign)), "file");
  EXPECT_TRUE(trace.ok());
  std::map<std::string, std::vector<WrittenSpan>> rows;
  const SpanColumns& spans = trace.value().spans();
  const TrackColumns& tracks = trace.value().tracks();
  for (size_t i = 0; i < spans.size(); ++i) {
    const uint32_t track = Row(spans.track[i]);
    const std::string_view text = trace.value().text(tracks.tid_text[track]);
    rows[text.empty() ? std::to_string(tracks.tid[track]) : std::string(text)].push_back(
        {std::string(trace.value().text(spans.name[i])), spans.start[i].ns, (spans.start[i] + spans.duration[i]).ns});
  }
  return rows;
}

size_t CrossingIn(const std::vector<WrittenSpan>& row) {
  size_t crossing = 0;
  for (const WrittenSpan& a : row) {
    for (const WrittenSpan& b : row)
      crossing += a.start < b.start && b.start < a.end && a.end < b.end ? 1u : 0u;
  }
  return crossing;
}

class Thread {
 public:
  void Add(const std::string& name, const char* category, int64_t start, int64_t end, uint8_t flags = 0) {
    builder_.AddSpan({.start = {start},
                      .duration = {end - start},
                      .name = builder_.Intern(name),
                      .category = builder_.Intern(category),
                      .track = track_,
                      .flags = flags});
  }
  Trace Build() {
    builder_.SetCrossing(track_);
    return builder_.Build();
  }

 private:
  TraceBuilder builder_;
  TrackId track_ = builder_.AddTrack({.process = builder_.AddProcess({.pid = 1}), .tid = 12});
};

std::vector<std::string> NamesOf(const std::vector<WrittenSpan>& row) {
  std::vector<std::string> names;
  for (const WrittenSpan& span : row)
    names.push_back(span.name);
  return names;
}

TEST(ChromeLanes, CallsThatCrossAStepHaveARowOfTheirOwn) {
  Thread thread;
  thread.Add("main", "python_function", 0, 100);
  thread.Add("enter", "python_function", 5, 12);
  thread.Add("ProfilerStep#1", "user_annotation", 10, 50);
  thread.Add("forward", "python_function", 15, 40);
  thread.Add("aten::mm", "cpu_op", 20, 30);
  thread.Add("step", "python_function", 45, 55);
  thread.Add("ProfilerStep#2", "user_annotation", 51, 90);
  thread.Add("exit", "python_function", 51, 51);  // no duration: it crosses nothing
  const Trace trace = thread.Build();
  const std::string json = ChromeTraceText(trace).value();
  const auto rows = RowsOf(json);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(NamesOf(rows.at("12")),
            (std::vector<std::string>{"main", "ProfilerStep#1", "forward", "aten::mm", "ProfilerStep#2", "exit"}));
  EXPECT_EQ(NamesOf(rows.at("1000000000")), (std::vector<std::string>{"enter", "step"}));
  EXPECT_NE(json.find("{\"pid\":1,\"tid\":1000000000, \"row_of\": 12}"), std::string::npos) << json;
}

TEST(ChromeLanes, RangesThatCrossEachOtherHaveRowsOfTheirOwn) {
  Thread thread;
  thread.Add("a", "user_annotation", 0, 20);
  thread.Add("b", "user_annotation", 10, 30);
  thread.Add("c", "user_annotation", 15, 40);
  const auto rows = RowsOf(ChromeTraceText(thread.Build()).value());
  EXPECT_EQ(rows.size(), 3u);
  EXPECT_EQ(NamesOf(rows.at("1000000001")), std::vector<std::string>{"c"});
}

// Perfetto puts a small number in place of a text, so a row that is a text may meet a thread.
TEST(ChromeLanes, FurtherRowsAreNumbersThatNoThreadHas) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  for (const int64_t tid : {12, 1'000'000'000, 1'000'000'002}) {
    const TrackId track = builder.AddTrack({.process = process, .tid = tid});
    for (const int64_t start : {0, 10})
      builder.AddSpan({.start = {start}, .duration = {20}, .name = builder.Intern("a"), .track = track});
    builder.SetCrossing(track);
  }
  const std::string json = ChromeTraceText(builder.Build()).value();
  std::vector<std::string> tids;
  for (const auto& [tid, spans] : RowsOf(json)) {
    EXPECT_EQ(spans.size(), 1u) << tid;
    tids.push_back(tid);
  }
  EXPECT_EQ(tids,
            (std::vector<std::string>{"1000000000", "1000000001", "1000000002", "1000000003", "1000000004", "12"}));
  EXPECT_NE(json.find("\"tid\":1000000001,\"args\":{\"name\":\"thread 12, crossing\"}"), std::string::npos) << json;
}

// With time for each pair of rows, or for each name that a row could have, this would not end.
TEST(ChromeLanes, ManySpansThatAllCrossEachOtherAreAllWritten) {
  constexpr int kSpans = 20'000;
  Thread thread;
  for (int i = 0; i < kSpans; ++i)
    thread.Add("a", "user_annotation", i, kSpans + i);
  const auto rows = RowsOf(ChromeTraceText(thread.Build()).value());
  EXPECT_EQ(rows.size(), size_t{kSpans});
  EXPECT_EQ(rows.count("1000019998"), 1u);
}

// To climb out of the nest for both ends of each call would take 20,000,000,000 steps.
TEST(ChromeLanes, ManyCallsBehindADeepNestOfOperatorsStayOnTheirThread) {
  constexpr int kDepth = 100'000, kCalls = 100'000, kBehind = 2 * kDepth;
  Thread thread;
  for (int i = 0; i < kDepth; ++i)
    thread.Add("aten::mm", "cpu_op", i, kBehind - i);
  for (int i = 0; i < kCalls; ++i)
    thread.Add("f", "python_function", kBehind + 2 * i, kBehind + 2 * i + 1);
  thread.Add("crossing", "python_function", kDepth / 2, kBehind + 1);
  const auto rows = RowsOf(ChromeTraceText(thread.Build()).value());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.at("12").size(), static_cast<size_t>(kDepth + kCalls));
  EXPECT_EQ(NamesOf(rows.at("1000000000")), std::vector<std::string>{"crossing"});
}

TEST(ChromeLanes, SpansThatDoNotCrossStayOnTheirThread) {
  Thread thread;
  thread.Add("a", "python_function", 0, 20);
  thread.Add("b", "user_annotation", 0, 20);
  thread.Add("c", "user_annotation", 20, 30);
  thread.Add("d", "python_function", 20, 25);
  EXPECT_EQ(RowsOf(ChromeTraceText(thread.Build()).value()).size(), 1u);
}

// Every pair of spans of every row is compared; the file read again is the same trace, and is written as it was.
TEST(ChromeLanes, OfRandomSpansHoldNoSpansThatCrossAndLoseNone) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
    Thread thread;
    std::vector<WrittenSpan> expected;
    const uint32_t time = 10 + below(60);
    for (uint32_t i = 0, count = below(40); i < count; ++i) {
      const char* categories[] = {"python_function", "user_annotation", "cpu_op"};
      const int64_t start = below(time), end = start + below(time);
      const std::string name = "span " + std::to_string(i);
      thread.Add(name, categories[below(3)], start, end, below(8) == 0 ? span_flags::kAsync : uint8_t{0});
      expected.push_back({name, start, end});
    }
    const Trace trace = thread.Build();
    const std::string json = ChromeTraceText(trace).value();
    std::vector<WrittenSpan> written;
    for (const auto& [row, spans] : RowsOf(json)) {
      EXPECT_EQ(CrossingIn(spans), 0u) << row;
      written.insert(written.end(), spans.begin(), spans.end());
    }
    std::ranges::sort(written), std::ranges::sort(expected);
    EXPECT_EQ(written, expected);

    const Result<Trace> again = ImportBytes(std::as_bytes(std::span(json)), "again");
    ASSERT_TRUE(again.ok());
    EXPECT_LE(again.value().tracks().size(), 1u);
    EXPECT_EQ(ChromeTraceText(again.value()).value(), json);
  }
}

}  // namespace
}  // namespace opscope
