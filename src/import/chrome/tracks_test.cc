// Which events share a process and a thread, and what a thread is.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "opscope/import.h"

namespace opscope {
namespace {

Trace Read(const std::string& text) {
  Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "trace.json");
  EXPECT_TRUE(trace.ok()) << text;
  return trace.ok() ? std::move(trace).value() : Trace();
}

std::string Span(const std::string& pid, const std::string& tid, int start, int duration) {
  return "{\"ph\":\"X\",\"name\":\"a\",\"pid\":" + pid + ",\"tid\":" + tid + ",\"ts\":" + std::to_string(start) +
         ",\"dur\":" + std::to_string(duration) + "}";
}

TEST(ChromeTracks, OfAProcessWhoseIdIsATextAreThreads) {
  for (const std::string pid : {"\"Main\"", "\"CPU functions\"", "\"\"", "\"Traces\"", "1.5", "\"1.0\"", "1e300"}) {
    const Trace trace = Read("[" + Span(pid, "1", 0, 10) + "," + Span(pid, "\"worker\"", 2, 5) + "]");
    ASSERT_EQ(trace.tracks().size(), 2u) << pid;
    EXPECT_EQ(trace.processes().size(), 1u) << pid;
    for (const TrackKind kind : trace.tracks().kind)
      EXPECT_EQ(kind, TrackKind::kThread) << pid;
    EXPECT_NE(trace.processes().pid_text[0], StringId::kNone) << pid;
  }
}

TEST(ChromeTracks, OfTheSpanThatKinetoWritesOfItsWindowIsNoThread) {
  const Trace trace = Read("[" + Span("\"Spans\"", "\"PyTorch Profiler\"", 0, 10) + "]");
  ASSERT_EQ(trace.tracks().size(), 1u);
  EXPECT_EQ(trace.tracks().kind[0], TrackKind::kOther);
}

// The same whole number in a spelling of JSON's.
std::string SpellingOf(int64_t number, std::mt19937_64* random) {
  const std::string digits = std::to_string(number);
  const std::string zeroes((*random)() % 4, '0');
  switch ((*random)() % 6) {
    case 0:
      return digits;
    case 1:
      return '"' + digits + '"';
    case 2:
      return digits + ".0" + zeroes;
    case 3:
      return digits + ((*random)() % 2 == 0 ? "e0" : "E+0");
    case 4:
      return digits + zeroes + "e-" + std::to_string(zeroes.size());
    default:
      return digits.substr(0, digits.size() - 1) + "." + digits.back() + zeroes + "e1";
  }
}

TEST(ChromeTracks, AreTheSameHoweverTheirNumbersAreSpelt) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const int64_t number : {int64_t{10}, int64_t{-12}, int64_t{4194304}, int64_t{9007199254740993}, INT64_MAX}) {
    std::string text = "[";
    for (int i = 0; i < 40; ++i)
      text += (i == 0 ? "" : ",") + Span(SpellingOf(number, &random), SpellingOf(number, &random), i, 1);
    text += ",{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" + SpellingOf(number, &random) +
            ",\"tid\":" + SpellingOf(number, &random) + ",\"args\":{\"name\":\"main\"}}]";
    const Trace trace = Read(text);
    ASSERT_EQ(trace.tracks().size(), 1u) << text;
    EXPECT_EQ(trace.processes().pid[0], number);
    EXPECT_EQ(trace.tracks().tid[0], number);
    EXPECT_EQ(trace.text(trace.tracks().name[0]), "main");
  }
}

// A stream and its annotations share pid and tid.
TEST(ChromeTracks, OfAnExportOfOursAreOfTheKindThatItSays) {
  const std::string kernel =
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5,"args":{"correlation":1}})";
  const std::string range = R"({"ph":"X","cat":"gpu_user_annotation","name":"r","pid":0,"tid":7,"ts":0,"dur":4})";
  const std::string crossing = R"({"ph":"X","cat":"gpu_user_annotation","name":"s","pid":0,"tid":7,"ts":2,"dur":9})";
  const auto read = [&](const std::string& kind, const std::string& events) {
    return Read(R"({"opscope.tracks":[{"pid":0,"tid":7,"kind":")" + kind +
                R"(","device":0,"crossing":true}],"traceEvents":[)" + events + "]}");
  };
  const Trace both = read("annotation", kernel + "," + range + "," + crossing);
  ASSERT_EQ(both.tracks().size(), 2u);
  EXPECT_EQ(both.tracks().kind[0], TrackKind::kDeviceStream);
  EXPECT_EQ(both.tracks().kind[1], TrackKind::kDeviceAnnotation);
  EXPECT_EQ(both.problems().size(), 0u) << "annotations may cross";
  const Trace stream = read("stream", range + "," + crossing + "," + kernel);
  EXPECT_EQ(stream.tracks().kind[0], TrackKind::kDeviceAnnotation);
  EXPECT_EQ(stream.tracks().kind[1], TrackKind::kDeviceStream);
  EXPECT_EQ(read("annotation", kernel).tracks().kind[0], TrackKind::kDeviceAnnotation) << "no other row is there";
  EXPECT_EQ(read("other", range).tracks().kind[0], TrackKind::kOther);
}

TEST(ChromeCounters, WithAnIdAreOnePerProcessNameAndId) {
  const auto sample = [](const char* pid, const char* id, int value) {
    return std::string("{\"ph\":\"C\",\"name\":\"queue\",\"pid\":") + pid + ",\"tid\":1,\"ts\":5" + id +
           ",\"args\":{\"length\":" + std::to_string(value) + "}}";
  };
  const Trace trace = Read("[" + sample("1", ",\"id\":7", 1) + "," + sample("1", ",\"id\":\"0x8\"", 2) + "," +
                           sample("1", "", 3) + "," + sample("2", ",\"id\":7.0", 4) + "," +
                           sample("2", ",\"id2\":{\"local\":\"9\"}", 5) + "," + sample("2", ",\"id\":null", 6) + "]");
  std::vector<std::string> counters;
  for (size_t i = 0; i < trace.counters().size(); ++i) {
    const ProcessId process = trace.tracks().process[Row(trace.counters().track[i])];
    counters.push_back(std::to_string(trace.processes().pid[Row(process)]) + " " +
                       std::string(trace.text(trace.counters().name[i])) + " " +
                       std::to_string(static_cast<int>(trace.counters().value[i])));
  }
  EXPECT_EQ(counters, (std::vector<std::string>{"1 queue[7] 1", "1 queue[0x8] 2", "1 queue 3", "2 queue[7] 4",
                                                "2 queue[9] 5", "2 queue 6"}));
}

}  // namespace
}  // namespace opscope
