// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "import/collapsed/importer.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/builder.h"

namespace opscope {
namespace {

Result<Trace> Import(const std::string& text, const ImportOptions& options = {}) {
  return ImportBytes(std::as_bytes(std::span(text)), "stacks.txt", options);
}

bool LooksLike(const std::string& text) {
  return LooksLikeCollapsedStacks(std::as_bytes(std::span(text)));
}

TEST(CollapsedStacks, AreNotSeenInOtherTexts) {
  EXPECT_TRUE(LooksLike("a;b 1\n"));
  EXPECT_TRUE(LooksLike("a;b 1"));
  EXPECT_TRUE(LooksLike("idle 9\na;b 1\n"));
  for (const char* text :
       {"", "\n", "12\n", "time;name;count\n1;a;2 3\n", "first, second 2\n", "key: value 1\n",
        "if (a) return; else b 4\n", "a;b\n", "a;b one\n", "a;b 1;\n", "\x01;b 1\n", "x;y 1\nprose\nprose\n"})
    EXPECT_FALSE(LooksLike(text)) << text;
}

// What tools write where threads have no frames, or between frames more than a ';'.
TEST(CollapsedStacks, AreSeenAsEveryToolWritesThem) {
  for (const char* text :
       {"main 10\n", "main 10", "thread 139 4\n", "thread 139 4\nthread 140 1\nthread 139;main 3\n",
        "ThreadId(1)-main; foo 123\n", "ThreadId(1)-main 7\nThreadId(1)-main; foo; bar::baz 123\n", "[unknown] 3\n",
        "\xef\xbb\xbf"
        "a;b 1\n",
        "\xef\xbb\xbf"
        "main 10\r\n",
        "<module> 4\n_start 2\n/usr/bin/python 9\n"})
    EXPECT_TRUE(LooksLike(text)) << text;
}

TEST(CollapsedStacks, AreNotSeenInProseLogsAndTables) {
  for (const char* text : {"The answer is 42\n",
                           "See chapter 3\n",
                           "Stop; then go 5\n",
                           "return x; // line 7\n",
                           "x = 3\n",
                           "x=3 4\n",
                           "a,b,c 1\n",
                           "a, b 1\n",
                           "name count\nmain 10\n",
                           "main 10\nsome words of prose\n",
                           "epoch 3 loss 5\n",
                           "- item 3\n",
                           "* item 3\n",
                           "## Part 3\n",
                           "1 2\n3 4\n",
                           "1.5 2\n",
                           "total: 5\n",
                           "Total 5.\n",
                           "Hello! 3\n",
                           "2026-11-27 14:00:00 INFO 5\n",
                           "INFO step 5\n",
                           "[INFO] step done 5\n",
                           "{ 3\n",
                           "\"a\" 3\n",
                           "main\t10\n",
                           "for (i = 0; i < n; i++) f(i); 5\n",
                           "\xef\xbb\xbf",
                           "\xef\xbb\xbf\n",
                           "GET /index.html 200\n",
                           "main 10\nmain -3\n",
                           "main 10 \n"})
    EXPECT_FALSE(LooksLike(text)) << text;
}

// Total and self of every name, computed from the lines alone, against those of the spans.
TEST(CollapsedStacks, GiveEveryNameItsCounts) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::string text = "a;b 0\n";
    std::map<std::string, int64_t> total, self;
    for (size_t line = random() % 40 + 1; line > 0; --line) {
      std::vector<std::string> frames;
      for (size_t depth = random() % 6 + 2; depth > 0; --depth)
        frames.push_back(std::string(1, static_cast<char>('a' + random() % 4)));
      const auto count = static_cast<int64_t>(random() % 100);
      for (size_t i = 0; i < frames.size(); ++i)
        text += (i == 0 ? "" : ";") + frames[i];
      text += " " + std::to_string(count) + "\n";
      self[frames.back()] += count;
      for (const std::string& name : std::set<std::string>(frames.begin(), frames.end()))
        total[name] += count;
    }
    const Result<Trace> trace = Import(text);
    ASSERT_TRUE(trace.ok()) << text;
    const SpanColumns& spans = trace.value().spans();
    std::map<std::string, int64_t> spans_total, spans_self;
    for (size_t i = 0; i < spans.size(); ++i) {
      const std::string name(trace.value().text(spans.name[i]));
      spans_self[name] += spans.duration[i].ns;
      bool lies_in_its_own = false;
      for (SpanId parent = spans.parent[i]; parent != SpanId::kNone; parent = spans.parent[Row(parent)])
        lies_in_its_own = lies_in_its_own || spans.name[Row(parent)] == spans.name[i];
      if (!lies_in_its_own) spans_total[name] += spans.duration[i].ns;
      if (spans.parent[i] != SpanId::kNone)
        spans_self[std::string(trace.value().text(spans.name[Row(spans.parent[i])]))] -= spans.duration[i].ns;
    }
    for (const auto& [name, count] : total) {
      EXPECT_EQ(spans_total[name], count) << name << "\n" << text;
      EXPECT_EQ(spans_self[name], self[name]) << name << "\n" << text;
    }
  }
}

// "before a 3, ..." of every span.
std::string RowsOf(const std::string& text) {
  const Result<Trace> trace = Import(text);
  if (!trace.ok()) return trace.error().message;
  const SpanColumns& spans = trace.value().spans();
  std::string rows;
  for (size_t i = 0; i < spans.size(); ++i) {
    rows += rows.empty() ? "" : ", ";
    rows += trace.value().text(trace.value().tracks().name[Row(spans.track[i])]);
    rows += " " + std::string(trace.value().text(spans.name[i])) + " " + std::to_string(spans.duration[i].ns);
  }
  return rows;
}

TEST(CollapsedStacks, OfTwoProfilesAreTwoFlameGraphs) {
  EXPECT_EQ(RowsOf("a;b 3 4\na;c 0 5\nd;e 6 0\n"),
            "before a 3, before b 3, before d 6, before e 6, after a 9, after b 4, after c 5");
}

TEST(CollapsedStacks, AreOfTwoProfilesWhereEveryLineHasTwoCounts) {
  EXPECT_EQ(RowsOf("a;worker 3 4\na;c 5\n"), "stacks a 9, stacks worker 3 4, stacks c 5");
  EXPECT_EQ(RowsOf("# before after\na;b 3 4\n\na;c 1 2"),
            "before a 4, before b 3, before c 1, after a 6, after b 4, after c 2");
  EXPECT_EQ(RowsOf("a;b 3 4\na;c 1"), "before a 3, before b 3, after a 4, after b 4");  // the end was cut off
  EXPECT_EQ(RowsOf("a;b 1.5 4\n"), "before a 2, before b 2, after a 4, after b 4");
}

TEST(CollapsedStacks, OfThreadsWithoutFramesAndOfSpacedFramesKeepTheirNames) {
  EXPECT_EQ(RowsOf("thread 139 4\nthread 140 2\n"), "stacks thread 139 4, stacks thread 140 2");
  EXPECT_EQ(RowsOf("main 3 4\n"), "stacks main 3 4");
  EXPECT_EQ(RowsOf("ThreadId(1)-main; foo 3\nThreadId(1)-main; foo; bar 4\nThreadId(1)-main 1\n"),
            "stacks ThreadId(1)-main 8, stacks foo 7, stacks bar 4");
  EXPECT_EQ(RowsOf("a;b 1\na; b 2\n"), "stacks a 3, stacks b 1, stacks  b 2");
  EXPECT_EQ(RowsOf("\xef\xbb\xbf"
                   "main;a 3\nmain;b 1\n"),
            "stacks main 4, stacks a 3, stacks b 1");
}

// Only the first megabyte says how frames are separated.
TEST(CollapsedStacks, WithoutTheBlankOfTheFirstLinesKeepTheirNames) {
  std::string text;
  for (int i = 0; i < 120'000; ++i)
    text += "main; foo 1\n";
  EXPECT_EQ(RowsOf(text + "main;packed 7\n"), "stacks main 120007, stacks foo 120000, stacks packed 7");
}

std::map<std::string, int64_t> SelfTimes(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  std::map<std::string, int64_t> self;
  for (size_t i = 0; i < spans.size(); ++i) {
    self[std::string(trace.text(spans.name[i]))] += spans.duration[i].ns;
    if (spans.parent[i] != SpanId::kNone)
      self[std::string(trace.text(spans.name[Row(spans.parent[i])]))] -= spans.duration[i].ns;
  }
  std::erase_if(self, [](const auto& entry) { return entry.second == 0; });
  return self;
}

TEST(CollapsedStacks, OfOurOwnExportKeepTheSelfTimes) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const auto add = [&](const char* name, int64_t start, int64_t duration) {
    builder.AddSpan({.start = {start}, .duration = {duration}, .name = builder.Intern(name), .track = track});
  };
  for (int64_t at = 0; at < 5000; at += 1000) {
    add("step", at, 900);
    add("matmul", at + 10, 300);
    add("gemm kernel", at + 20, 200 + at / 100);
    add("relu", at + 400, 77);
    add("step", at + 500, 100);  // in itself
  }
  const Trace trace = builder.Build();
  const Result<Exported> exported = ExportToBytes(trace, ExportFormat::kCollapsed, {.merge_threads = true});
  ASSERT_TRUE(exported.ok());
  const Result<Trace> again = Import(exported.value().bytes);
  ASSERT_TRUE(again.ok()) << exported.value().bytes;
  EXPECT_EQ(SelfTimes(again.value()), SelfTimes(trace)) << exported.value().bytes;
}

TEST(CollapsedStacks, AreReadAMillionFramesDeep) {
  std::string deep = "f";
  for (int i = 0; i < 1'000'000; ++i)
    deep += ";f";
  const Result<Trace> trace = Import("f;g 1\n" + deep + " 3\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().spans().size(), 60'001u);
  EXPECT_EQ(trace.value().spans().duration[0].ns, 4);
  EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "bad_value");
}

TEST(CollapsedStacks, StopAtTheMemoryLimit) {
  std::string text;
  for (int i = 0; i < 100'000; ++i)
    text += "main;f" + std::to_string(i) + " 1\n";
  const Result<Trace> trace = Import(text, {.max_memory = 8 << 20});
  ASSERT_TRUE(trace.ok());
  EXPECT_LT(trace.value().info().recorded, 100'000u);
  EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "over_memory_limit");
}

}  // namespace
}  // namespace opscope
