// SPDX-License-Identifier: Apache-2.0
#include "opscope/profiler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "opscope/import.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

DecodedWindow Decode(const Profiler& profiler) {
  DecodedWindow decoded;
  if (profiler.window() != nullptr) opscope_window_read(profiler.window(), DecodeBlock, &decoded);
  return decoded;
}

std::vector<std::string> Names(const DecodedWindow& decoded) {
  std::vector<std::string> names;
  for (const auto& [index, thread] : decoded.threads) {
    for (const DecodedRecord& record : thread.records)
      names.push_back(record.name);
  }
  return names;
}

TEST(Profiler, RecordsFromStartToStop) {
  Profiler profiler;
  {
    OPSCOPE_SCOPE("before");
  }
  ASSERT_TRUE(profiler.Start().ok());
  {
    OPSCOPE_SCOPE("between");
  }
  EXPECT_EQ(profiler.recorded(), 1u);
  ASSERT_TRUE(profiler.Stop().ok());
  {
    OPSCOPE_SCOPE("after");
  }
  EXPECT_EQ(Names(Decode(profiler)), std::vector<std::string>{"between"});
  EXPECT_EQ(profiler.recorded(), 1u);
  EXPECT_EQ(profiler.dropped(), 0u);
}

TEST(Profiler, MisuseIsAnError) {
  Profiler profiler;
  EXPECT_EQ(profiler.Stop().error().message, "profiler: stop without start");
  EXPECT_EQ(profiler.Step().error().message, "profiler: step without start");
  EXPECT_EQ(profiler.Save("/nowhere").error().message, "profiler: nothing is recorded yet");
  ASSERT_TRUE(profiler.Start().ok());
  EXPECT_EQ(profiler.Start().error().message, "profiler: started already");
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_TRUE(profiler.Stop().ok()) << "a second stop changes nothing";
  EXPECT_FALSE(profiler.Step().ok());
  Profiler wrong({.schedule = Schedule{.active = 0}});
  EXPECT_EQ(wrong.Start().error().message, "schedule: active must be at least 1, not 0");
  EXPECT_EQ(wrong.state(), Profiler::State::kIdle);
}

TEST(Profiler, MetadataThatIsNoJsonFailsTheStartAndNotTheFile) {
  for (const char* text : {"model", "{\"a\": 1}", "\"a\":", "\"a\": 1}", "\"a\": 1,", "\"a\": NaN"}) {
    Profiler profiler({.schedule = Schedule{.wait = 1}, .metadata_json = text});
    const Status started = profiler.Start();
    ASSERT_FALSE(started.ok()) << text;
    EXPECT_EQ(started.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(started.error().message, std::string("metadata_json: not the members of a JSON object: ") + text);
    EXPECT_EQ(profiler.state(), Profiler::State::kIdle);
  }
}

TEST(Profiler, AScheduleDecidesWhichStepsAreRecorded) {
  std::vector<std::vector<std::string>> recordings;
  std::vector<int64_t> seen_steps;
  Profiler profiler({.schedule = Schedule{.wait = 1, .warmup = 1, .active = 2}, .on_ready = [&](Profiler& p) {
                       recordings.push_back(Names(Decode(p)));
                       seen_steps.push_back(p.step());
                     }});
  ASSERT_TRUE(profiler.Start().ok());
  for (int step = 0; step < 9; ++step) {
    {
      Scope scope(("work " + std::to_string(step)).c_str());
    }
    ASSERT_TRUE(profiler.Step().ok());
  }
  ASSERT_TRUE(profiler.Stop().ok());  // in a warm-up: nothing more
  ASSERT_EQ(recordings.size(), 2u);
  EXPECT_EQ(recordings[0], (std::vector<std::string>{"work 2", "ProfilerStep#2", "work 3", "ProfilerStep#3"}));
  EXPECT_EQ(recordings[1], (std::vector<std::string>{"work 6", "ProfilerStep#6", "work 7", "ProfilerStep#7"}));
  EXPECT_EQ(seen_steps, (std::vector<int64_t>{4, 8}));
  EXPECT_EQ(Names(Decode(profiler)), recordings[1]) << "the last recording outlives a stop in the warm-up";
}

TEST(Profiler, StepRangesCarryTheStepFlag) {
  Profiler profiler({.schedule = Schedule{.active = 1}});
  ASSERT_TRUE(profiler.Start().ok());
  ASSERT_TRUE(profiler.Stop().ok());
  const DecodedWindow decoded = Decode(profiler);
  ASSERT_EQ(decoded.only_thread().records.size(), 1u);
  EXPECT_EQ(decoded.only_thread().records[0].record.flags, record_flags::kStep);
}

TEST(Profiler, AnyCallableIsASchedule) {
  bool wanted = false;
  int ready = 0;
  Profiler profiler({.schedule = [&](int64_t) { return wanted ? Action::kRecordAndSave : Action::kNone; },
                     .on_ready = [&](Profiler&) { ++ready; }});
  ASSERT_TRUE(profiler.Start().ok());
  for (int step = 0; step < 10; ++step) {
    wanted = step == 3 || step == 7;  // decides on the step that begins now
    ASSERT_TRUE(profiler.Step().ok());
  }
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_EQ(ready, 2);
}

TEST(Profiler, ARecordingThatCannotStartHandsOverNoEarlierOne) {
  int ready = 0;
  Profiler profiler({.schedule = Schedule{.wait = 1, .active = 1}, .on_ready = [&](Profiler&) { ++ready; }});
  ASSERT_TRUE(profiler.Start().ok());
  ASSERT_TRUE(profiler.Step().ok());
  ASSERT_TRUE(profiler.Step().ok());
  EXPECT_EQ(ready, 1);
  std::vector<std::unique_ptr<Profiler>> others;  // until no window is left
  do {
    others.push_back(std::make_unique<Profiler>(Options()));
  } while (others.back()->Start().ok());
  EXPECT_FALSE(profiler.Step().ok());
  others.clear();
  (void)profiler.Step();
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_EQ(ready, 1);
}

TEST(Profiler, ScheduleFaultsAreWarnedOfAndSurvived) {
  std::vector<std::string> warnings;
  const Action actions[] = {Action::kRecord, Action::kWarmup, Action::kRecord, Action::kNone,
                            Action::kWarmup, Action::kNone,   Action::kRecord};
  Profiler profiler({.schedule = [&](int64_t step) { return actions[step]; },
                     .on_warning = [&](std::string_view text) { warnings.emplace_back(text); }});
  ASSERT_TRUE(profiler.Start().ok());
  for (int step = 1; step < 7; ++step)
    ASSERT_TRUE(profiler.Step().ok());
  {
    OPSCOPE_SCOPE("at last");
  }
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_EQ(warnings, (std::vector<std::string>{"Incorrect schedule: RECORD followed by WARMUP",
                                                "Incorrect schedule: RECORD followed by NONE",
                                                "Incorrect schedule: WARMUP followed by NONE"}));
  EXPECT_EQ(Names(Decode(profiler)).front(), "at last");
}

TEST(Profiler, StopOnAnotherThreadThanStart) {
  Profiler profiler({.schedule = Schedule{.active = 100}});
  ASSERT_TRUE(profiler.Start().ok());
  {
    OPSCOPE_SCOPE("work");
  }
  std::thread([&] { EXPECT_TRUE(profiler.Stop().ok()); }).join();
  EXPECT_EQ(profiler.recorded(), 2u);
}

TEST(Profiler, TwoAtOnceAreBothComplete) {
  Profiler outer, inner;
  ASSERT_TRUE(outer.Start().ok());
  ASSERT_TRUE(inner.Start().ok());
  {
    OPSCOPE_SCOPE("both");
  }
  ASSERT_TRUE(outer.Stop().ok());
  {
    OPSCOPE_SCOPE("inner only");
  }
  ASSERT_TRUE(inner.Stop().ok());
  EXPECT_EQ(outer.recorded(), 1u);
  EXPECT_EQ(inner.recorded(), 2u);
}

TEST(Profiler, DroppedWhileRunningItStops) {
  {
    Profiler profiler;
    ASSERT_TRUE(profiler.Start().ok());
    EXPECT_NE(opscope_gate.load(), 0u);
  }
  EXPECT_EQ(opscope_gate.load(), 0u);
}

TEST(ScopeArguments, AreMembersOfAJsonObject) {
  Profiler outer, profiler;
  ASSERT_TRUE(outer.Start().ok());
  ASSERT_TRUE(profiler.Start().ok());
  {
    Scope scope("scope");
    scope.Arg("int", -3).Arg("big", ~uint64_t{0}).Arg("double", 0.5).Arg("float", 0.25f).Arg("bool", true);
    scope.Arg("text", "quote \" and \n").Arg("string", std::string("s")).Arg("nan", std::nan(""));
    scope.Arg("inf", -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(scope.recording());
  }
  ASSERT_TRUE(profiler.Stop().ok());
  ASSERT_TRUE(outer.Stop().ok());
  const char* expected =
      "\"int\":-3,\"big\":18446744073709551615,\"double\":0.5,\"float\":0.25,\"bool\":true,"
      "\"text\":\"quote \\\" and \\n\",\"string\":\"s\",\"nan\":\"NaN\",\"inf\":\"-Infinity\"";
  EXPECT_EQ(Decode(profiler).only_thread().records.at(0).keywords, expected);
  EXPECT_EQ(Decode(outer).only_thread().records.at(0).keywords, expected);
}

TEST(ScopeArguments, AreKeptWhenTheWindowClosesFirst) {
  Profiler profiler;
  ASSERT_TRUE(profiler.Start().ok());
  Scope scope("open");
  scope.Arg("a", 1);
  ASSERT_TRUE(profiler.Stop().ok());
  scope.Arg("too late", 2);
  EXPECT_EQ(Decode(profiler).only_thread().records.at(0).keywords, "\"a\":1");
}

TEST(ScopeArguments, MoveOnWithTheirScope) {
  Profiler profiler;
  ASSERT_TRUE(profiler.Start().ok());
  {
    Scope scope("long");
    scope.Arg("a", 1);
    for (int i = 0; i < 30000; ++i)
      OPSCOPE_SCOPE("short");
    scope.Arg("b", std::string(300000, 'x'));
    for (int i = 0; i < 30000; ++i)
      OPSCOPE_SCOPE("short");
    scope.Arg("c", 3);
  }
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_EQ(Decode(profiler).only_thread().records.back().keywords,
            "\"a\":1,\"b\":\"" + std::string(300000, 'x') + "\",\"c\":3");
}

TEST(ScopeArguments, CostNothingWhenNothingRecords) {
  Scope scope("unheard");
  scope.Arg("a", 1).Arg("b", "text");
  EXPECT_FALSE(scope.recording());
}

TEST(Save, TheFileOpensAsTheTraceThatWasRecorded) {
  const std::string path = testing::TempDir() + "profiler_test.opscope";
  Profiler profiler({.schedule = Schedule{.active = 3}, .metadata_json = "\"model\":\"small\""});
  ASSERT_TRUE(profiler.Start().ok());
  for (int step = 0; step < 3; ++step) {
    {
      Scope scope("work");
      scope.Arg("step", step);
      Counter("loss", 1.0 / (step + 1));
      Instant("mark");
    }
    std::thread([] { OPSCOPE_SCOPE("elsewhere"); }).join();
    if (step < 2) {
      ASSERT_TRUE(profiler.Step().ok());
    }
  }
  ASSERT_TRUE(profiler.Stop().ok());
  ASSERT_TRUE(profiler.Save(path).ok());
  const Result<Trace> trace = ImportFile(path);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().spans().start.size(), 9u);  // 3 steps, 3 of work, 3 elsewhere
  EXPECT_EQ(profiler.recorded(), 15u);
  std::remove(path.c_str());
}

TEST(Save, AScopeWhoseParentLeftTheNestingIsNotGivenToALaterOne) {
  const std::string path = testing::TempDir() + "profiler_test_crossing.opscope";
  Profiler profiler;
  ASSERT_TRUE(profiler.Start().ok());
  {
    OPSCOPE_SCOPE("outer");
    Stream* stream = NativeStream();
    OpenScope* crossing = OpenNamed(stream, "crossing");
    OpenScope* inner = OpenNamed(stream, "inner");
    End(crossing);
    End(inner);
    OPSCOPE_SCOPE("later");  // at the depth that crossing had
  }
  ASSERT_TRUE(profiler.Stop().ok());
  ASSERT_TRUE(profiler.Save(path).ok());
  const Result<Trace> read = ImportFile(path);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Trace& trace = read.value();
  std::string parents;
  for (size_t i = 0; i < trace.spans().start.size(); ++i) {
    const SpanId parent = trace.spans().parent[i];
    parents += std::string(trace.text(trace.spans().name[i])) + "<" +
               (parent == SpanId::kNone ? "" : std::string(trace.text(trace.spans().name[Row(parent)]))) + " ";
  }
  EXPECT_NE(parents.find("inner<outer "), std::string::npos) << parents;
  EXPECT_NE(parents.find("later<outer "), std::string::npos) << parents;
  std::remove(path.c_str());
}

TEST(Save, AFolderThatIsNotThereIsNamed) {
  Profiler profiler;
  ASSERT_TRUE(profiler.Start().ok());
  ASSERT_TRUE(profiler.Stop().ok());
  const Status status = profiler.Save("/no/such/folder/x.opscope");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("/no/such/folder/x.opscope"), std::string::npos) << status.error().message;
}

}  // namespace
}  // namespace opscope
