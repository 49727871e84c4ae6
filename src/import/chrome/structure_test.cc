// Broken structures of Chrome traces: each has a reading, and nothing is lost in silence. Every generator says how many
// events it writes, how many of them cannot be kept, and which counters tell; traces are random mixes of them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "opscope/import.h"

namespace opscope {
namespace {

using Counts = std::map<std::string, uint64_t>;

// One broken structure on a thread of its own, `n`; $ stands for that number in the texts.
struct Structure {
  const char* name;
  std::vector<const char*> events;  // members of each, without pid and tid
  Counts problems = {};
  uint64_t dropped = 0;
  uint64_t spans = 0;
};

#define X(ts, dur, name) "\"ph\":\"X\",\"ts\":" ts ",\"dur\":" dur ",\"name\":\"" name "\""
#define AT(phase, ts, name) "\"ph\":\"" phase "\",\"ts\":" ts ",\"name\":\"" name "\""
#define WITH_ID(phase, ts, id) "\"ph\":\"" phase "\",\"ts\":" ts ",\"id\":" id ",\"cat\":\"c\",\"name\":\"n\""

const Structure kStructures[] = {
    {"negative duration", {X("5", "-3", "a")}, {{"negative_duration", 1}}, 0, 1},
    {"zero duration", {X("5", "0", "a")}, {}, 0, 1},
    {"no duration", {AT("X", "5", "a")}, {{"missing_duration", 1}}, 0, 1},
    {"duration that is no number", {X("5", "\"long\"", "a")}, {{"missing_duration", 1}}, 0, 1},
    {"duration NaN", {X("5", "NaN", "a")}, {{"missing_duration", 1}}, 0, 1},
    {"duration null", {X("5", "null", "a")}, {{"missing_duration", 1}}, 0, 1},
    {"no time", {"\"ph\":\"X\",\"dur\":3,\"name\":\"a\""}, {{"missing_time", 1}}, 0, 1},
    {"time null", {X("null", "3", "a")}, {{"missing_time", 1}}, 0, 1},
    {"time past all clocks", {X("1e300", "3", "a")}, {{"missing_time", 1}}, 0, 1},
    {"time past 64 bits", {X("18446744073709551617", "3", "a")}, {{"missing_time", 1}}, 0, 1},
    {"time past 64 bits in nanoseconds", {X("18446744073709552", "3", "a")}, {{"missing_time", 1}}, 0, 1},
    {"duration past 64 bits in nanoseconds", {X("5", "1.8446744073709552e+16", "a")}, {{"missing_duration", 1}}, 0, 1},
    {"time as text", {X("\"5.25\"", "3", "a")}, {}, 0, 1},
    {"time zero", {X("0", "0", "a"), X("0", "0", "b")}, {}, 0, 2},
    {"begin without end", {AT("B", "5", "a"), X("6", "2", "b")}, {{"unclosed_begin", 1}}, 0, 2},
    {"end without begin", {AT("E", "5", "a")}, {{"stray_end", 1}}, 1, 0},
    {"end of another name", {AT("B", "5", "a"), AT("E", "9", "b")}, {{"mismatched_end", 1}}, 0, 1},
    {"end before begin", {AT("E", "5", "a"), AT("B", "6", "a")}, {{"stray_end", 1}, {"unclosed_begin", 1}}, 1, 1},
    {"ends in the order of the begins",
     {AT("B", "1", "a"), AT("B", "2", "b"), AT("E", "3", "a"), AT("E", "4", "b")},
     {{"mismatched_end", 2}},
     0,
     2},
    {"crossing spans", {X("10", "10", "a"), X("15", "10", "b")}, {{"crossing_spans", 1}}, 0, 2},
    {"equal spans", {X("10", "10", "a"), X("10", "10", "a"), X("10", "10", "a")}, {}, 0, 3},
    {"flow end without start", {WITH_ID("f", "5", "$")}, {{"unpaired_flow", 1}}, 1, 0},
    {"flow start without end", {WITH_ID("s", "5", "$")}, {{"unpaired_flow", 1}}, 1, 0},
    {"two flow starts at one time",
     {WITH_ID("s", "5", "$"), WITH_ID("s", "5", "$"), WITH_ID("f", "6", "$")},
     {{"unpaired_flow", 1}},
     1,
     0},
    {"flow end before its start", {WITH_ID("f", "5", "$"), WITH_ID("s", "7", "$")}, {}, 0, 0},
    {"one start, three ends",
     {WITH_ID("s", "5", "$"), WITH_ID("t", "6", "$"), WITH_ID("f", "7", "$"), WITH_ID("f", "8", "$")},
     {},
     0,
     0},
    {"flow without id", {AT("s", "5", "a")}, {{"bad_value", 1}}, 1, 0},
    {"flow ids as text", {WITH_ID("s", "5", "\"0x$\""), WITH_ID("f", "6", "\"0x$\"")}, {}, 0, 0},
    {"flows with arguments",
     {WITH_ID("s", "5", "$") ",\"args\":{\"a\":1}", WITH_ID("f", "6", "$") ",\"args\":{}"},
     {{"lost_member", 1}},
     0,
     0},
    {"members that no reader knows",
     {X("5", "3", "a") ",\"tts\":1,\"cname\":\"good\",\"tdur\":null", AT("i", "6", "a") ",\"s\":\"t\",\"sf\":7"},
     {{"lost_member", 3}},
     0,
     1},
    {"binding without an id", {X("5", "3", "a") ",\"flow_out\":true"}, {{"lost_member", 1}}, 0, 1},
    {"binding without the other end",
     {X("5", "3", "a") ",\"flow_in\":true,\"bind_id\":\"x$\"",
      X("9", "3", "a") ",\"flow_out\":true,\"bind_id\":\"x$\""},
     {{"unpaired_flow", 2}},
     0,
     2},
    {"asynchronous end without begin", {WITH_ID("e", "5", "$")}, {{"unpaired_async", 1}}, 1, 0},
    {"asynchronous begin without end", {WITH_ID("b", "5", "$")}, {{"unpaired_async", 1}}, 1, 0},
    {"asynchronous within a span", {X("1", "9", "a"), WITH_ID("b", "2", "$"), WITH_ID("e", "30", "$")}, {}, 0, 1},
    {"unknown phase", {AT("Z", "5", "a")}, {{"unknown_event", 1}}, 1, 0},
    {"phase of two letters", {AT("XX", "5", "a")}, {{"unknown_event", 1}}, 1, 0},
    {"no phase", {"\"ts\":5,\"name\":\"a\""}, {{"unknown_event", 1}}, 1, 0},
    {"phase that is no text", {"\"ph\":3,\"ts\":5"}, {{"unknown_event", 1}}, 1, 0},
    {"counter that is no number",
     {"\"ph\":\"C\",\"ts\":5,\"name\":\"c\",\"args\":{\"a\":\"x\"}"},
     {{"bad_value", 1}},
     0,
     0},
    {"counter going back",
     {"\"ph\":\"C\",\"ts\":9,\"name\":\"c\",\"args\":{\"a\":5}",
      "\"ph\":\"C\",\"ts\":3,\"name\":\"c\",\"args\":{\"a\":-5}"},
     {},
     0,
     0},
    {"one correlation of two launches",
     {"\"ph\":\"X\",\"ts\":1,\"dur\":1,\"cat\":\"cuda_runtime\",\"name\":\"l\",\"args\":{\"correlation\":7}",
      "\"ph\":\"X\",\"ts\":3,\"dur\":1,\"cat\":\"cuda_runtime\",\"name\":\"l\",\"args\":{\"correlation\":7}"},
     {},
     0,
     2},
    {"kernel before its launch",
     {"\"ph\":\"X\",\"ts\":1,\"dur\":1,\"cat\":\"kernel\",\"name\":\"k\",\"args\":{\"correlation\":8}",
      "\"ph\":\"X\",\"ts\":3,\"dur\":1,\"cat\":\"cuda_runtime\",\"name\":\"l\",\"args\":{\"correlation\":8}"},
     {},
     0,
     2},
    {"correlation past 32 bits, zero and negative",
     {"\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"k\",\"args\":{\"correlation\":4294967296}",
      "\"ph\":\"X\",\"ts\":2,\"dur\":1,\"name\":\"k\",\"args\":{\"correlation\":0}",
      "\"ph\":\"X\",\"ts\":3,\"dur\":1,\"name\":\"k\",\"args\":{\"correlation\":-1}"},
     {},
     0,
     3},
    {"steps that cross",
     {"\"ph\":\"X\",\"ts\":1,\"dur\":9,\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\"",
      "\"ph\":\"X\",\"ts\":5,\"dur\":9,\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\""},
     {{"crossing_spans", 1}},
     0,
     2},
    {"name that is an object", {"\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":{\"a\":1}"}, {{"bad_value", 1}}, 0, 1},
    {"category that is a number",
     {"\"ph\":\"X\",\"ts\":1,\"dur\":1,\"cat\":5,\"name\":\"a\""},
     {{"bad_value", 1}},
     0,
     1},
    {"the same key twice", {"\"ph\":\"B\",\"ph\":\"X\",\"ts\":9,\"ts\":1,\"dur\":1,\"name\":\"a\""}, {}, 0, 1},
};

std::string Event(const char* members, uint64_t number) {
  std::string text = "{\"pid\":1,\"tid\":" + std::to_string(number) + "," + members + "}";
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$'))
    text.replace(at, 1, std::to_string(number));
  return text;
}

Counts ProblemsOf(const Trace& trace) {
  Counts counts;
  for (size_t i = 0; i < trace.problems().size(); ++i)
    counts[std::string(trace.text(trace.problems().kind[i]))] = trace.problems().count[i];
  return counts;
}

void ExpectReading(const std::vector<const Structure*>& structures, std::mt19937_64* random) {
  std::vector<std::string> events;
  Counts problems;
  uint64_t dropped = 0, spans = 0;
  std::string names;
  for (size_t i = 0; i < structures.size(); ++i) {
    for (const char* members : structures[i]->events)
      events.push_back(Event(members, 1000 + i));
    for (const auto& [kind, count] : structures[i]->problems)
      problems[kind] += count;
    dropped += structures[i]->dropped, spans += structures[i]->spans;
    names.append(structures[i]->name).append("; ");
  }
  SCOPED_TRACE(names);
  const bool is_array = (*random)() % 2 == 0;
  std::string text = is_array ? "[" : "{\"traceEvents\": [";
  for (size_t i = 0; i < events.size(); ++i)
    text += (i == 0 ? "\n" : ",\n") + events[i];
  text += is_array ? "]" : "]}";
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "trace.json");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().info().recorded + dropped, events.size()) << "imported + dropped = read";
  EXPECT_EQ(ProblemsOf(trace.value()), problems);
  EXPECT_EQ(trace.value().spans().size(), spans);
  EXPECT_FALSE(trace.value().is_partial());
  for (size_t i = 0; i < trace.value().problems().size(); ++i) {
    if (trace.value().text(trace.value().problems().kind[i]) == "crossing_spans") continue;  // found after the file
    const auto offset = static_cast<size_t>(trace.value().problems().first_offset[i]);
    ASSERT_LT(offset, text.size());
    EXPECT_EQ(text[offset], '{') << "the first example stands there";
  }
}

TEST(ChromeStructure, HasAReadingEach) {
  std::mt19937_64 random(1);
  for (const Structure& structure : kStructures)
    ExpectReading({&structure}, &random);
}

TEST(ChromeStructure, LosesNothingInSilenceInAnyMix) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 1000 && !testing::Test::HasFailure(); ++round) {
    std::vector<const Structure*> structures;
    for (size_t count = random() % 30 + 2; count > 0; --count)
      structures.push_back(&kStructures[random() % std::size(kStructures)]);
    ExpectReading(structures, &random);
  }
}

TEST(ChromeStructure, EventsWithoutATimeStandWhereTheTraceBegins) {
  constexpr int64_t kFirst = 1'661'938'466'000'000'000, kLast = kFirst + 9000;
  const auto at = [](const char* phase, const char* rest) {
    return std::string("\"ph\":\"") + phase + "\",\"name\":\"n\",\"cat\":\"c\"," + rest;
  };
  const std::vector<std::string> events = {
      at("X", "\"dur\":3"),
      at("B", "\"ts\":null"),
      at("i", "\"s\":\"t\""),
      at("C", "\"args\":{\"v\":1}"),
      at("b", "\"id\":5,\"ts\":\"soon\""),
      at("s", "\"id\":6"),
      "\"ph\":\"i\",\"name\":\"[memory]\",\"cat\":\"cpu_instant_event\",\"args\":{\"Addr\":1,\"Bytes\":2,"
      "\"Device Type\":0,\"Device Id\":-1,\"Total Allocated\":2,\"Total Reserved\":2}",
      at("X", "\"ts\":1661938466000000,\"dur\":9"),
      at("e", "\"id\":5,\"ts\":1661938466000002"),
      at("f", "\"id\":6,\"ts\":1661938466000002"),
      at("E", "\"ts\":1661938466000004"),
      at("B", "\"ts\":1e30"),  // nothing closes it
  };
  for (size_t first = 0; first < events.size(); ++first) {  // in any place of the file
    std::string text = "[";
    for (size_t i = 0; i < events.size(); ++i)
      text += (i == 0 ? "" : ",") + Event(events[(first + i) % events.size()].c_str(), 1);
    text += "]";
    const Result<Trace> read = ImportBytes(std::as_bytes(std::span(text)), "trace.json");
    ASSERT_TRUE(read.ok()) << read.error().message;
    const Trace& trace = read.value();
    EXPECT_EQ(ProblemsOf(trace).at("missing_time"), 8u);
    EXPECT_EQ(trace.spans().size(), 4u);
    EXPECT_EQ(trace.async_spans().size(), 1u);
    EXPECT_EQ(trace.instants().size(), 2u);
    EXPECT_EQ(trace.counters().size(), 1u);
    EXPECT_EQ(trace.allocations().size(), 1u);
    ASSERT_EQ(trace.flows().size(), 1u);
    std::vector<Timestamp> times = {trace.flows().start_time[0], trace.flows().end_time[0]};
    const auto add = [&](std::span<const Timestamp> column) {
      times.insert(times.end(), column.begin(), column.end());
    };
    add(trace.spans().start), add(trace.async_spans().start), add(trace.instants().time), add(trace.counters().time);
    add(trace.allocations().time);
    for (size_t span = 0; span < trace.spans().size(); ++span)
      times.push_back(trace.spans().start[span] + trace.spans().duration[span]);
    for (const Timestamp time : times) {
      EXPECT_GE(time.ns, kFirst);
      EXPECT_LE(time.ns, kLast);
    }
    EXPECT_EQ(trace.async_spans().duration[0].ns, 2000);
  }
}

TEST(ChromeStructure, IsReadAHundredThousandSpansDeep) {
  std::string text = "[";
  for (int i = 0; i < 100'000; ++i)
    text += (i == 0 ? "" : ",") + std::string("{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"a\",\"ts\":") +
            std::to_string(i) + ",\"dur\":" + std::to_string(2 * (100'000 - i)) + "}";
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "deep.json");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace.value().spans().size(), 100'000u);
  EXPECT_EQ(trace.value().info().recorded, 100'000u);
}

TEST(ChromeStructures, SayWhichMembersAreLostAndWhereTheFirstOneIs) {
  std::string events = R"([{"ph":"X","name":"a","ts":1,"dur":1,"tid":1,"pid":1})";
  const size_t first = events.size() + 2;
  for (int i = 0; i < 10; ++i)
    events += ",\n{\"ph\":\"X\",\"name\":\"a\",\"ts\":2,\"dur\":1,\"tid\":2,\"pid\":1,\"tts\":3,\"m" +
              std::to_string(i) + "\":4}";
  events += "]";
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(events)), "trace.json");
  ASSERT_TRUE(trace.ok());
  const ProblemColumns& problems = trace.value().problems();
  for (size_t i = 0; i < problems.size(); ++i) {
    if (trace.value().text(problems.kind[i]) != "lost_member") continue;
    EXPECT_EQ(problems.count[i], 20u);
    EXPECT_EQ(problems.first_offset[i], static_cast<int64_t>(first));
    EXPECT_EQ(trace.value().text(problems.message[i]),
              "members of events have no place in a Trace; they were left out (tts, m0, m1, m2, m3, m4, m5, m6, ...)");
    return;
  }
  FAIL() << "no problem says it";
}

}  // namespace
}  // namespace opscope
