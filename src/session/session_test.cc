// The life of recordings with sources.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "flight/temporary_folder_for_test.h"
#include "opscope/import.h"
#include "opscope/profiler.h"
#include "session/fake_source_for_test.h"

namespace opscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string MetadataOf(const Trace& trace, std::string_view key) {
  for (size_t i = 0; i < trace.metadata().size(); ++i) {
    if (trace.text(trace.metadata().key[i]) == key) return std::string(trace.text(trace.metadata().json[i]));
  }
  return {};
}

TEST_F(SessionSources, RecordIntoOneWindowAndAreStoppedInTheOtherOrder) {
  Recording recording({.native_threads = NativeThreads::kNone, .sources = {{&one, 1}, {&two, 4}}});
  ASSERT_TRUE(recording.Start().ok());
  EXPECT_EQ(one.window, two.window);
  EXPECT_EQ(one.flags_asked, 1u);
  EXPECT_EQ(two.flags_asked, 4u);
  one.Run("of one");
  two.Run("of two");
  recording.Stop();
  recording.Stop();
  EXPECT_THAT(asked, ElementsAre("start one", "start two", "stop two", "stop one"));
  EXPECT_THAT(NamesOf(recording.ReadTrace()), ElementsAre("of one", "of two"));
  EXPECT_EQ(MetadataOf(*recording.ReadTrace().value(), "fact"), "7");
}

TEST_F(SessionSources, ThatCannotStartLeaveNothingBehind) {
  two.refuses = true;
  for (uint32_t i = 0; i < 2 * kMaxWindows; ++i) {
    asked.clear();
    Recording recording({.sources = {{&one}, {&two}}});
    const Status started = recording.Start();
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().message, "the fake has no room");
    EXPECT_THAT(asked, ElementsAre("start one", "start two", "stop one"));
    EXPECT_FALSE(recording.is_running());
  }
  Recording recording({.sources = {{&one}}});
  EXPECT_TRUE(recording.Start().ok());
}

TEST_F(SessionSources, ThatCannotStartLeaveNoFlightRecorderRunning) {
  two.refuses = true;
  const TemporaryFolder folder;
  Session session({.path = folder.File("f.opscope"), .signal = SIGUSR1});
  const auto recording = session.Prepare({.sources = {{&two}}}).value();
  struct sigaction before{}, after{};
  ASSERT_EQ(sigaction(SIGUSR1, nullptr, &before), 0);
  EXPECT_FALSE(recording->Start().ok());
  ASSERT_EQ(sigaction(SIGUSR1, nullptr, &after), 0);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

TEST_F(SessionSources, ForWhichMemoryIsShortLeaveNothingBehind) {
  two.Source::start = [](const Source*, Window*, uint32_t, const char**) -> void* { throw std::bad_alloc(); };
  for (uint32_t i = 0; i < 2 * kMaxWindows; ++i) {
    asked.clear();
    Recording recording({.sources = {{&one}, {&two}}});
    const Status started = recording.Start();
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().code, ErrorCode::kOutOfMemory);
    EXPECT_THAT(asked, ElementsAre("start one", "stop one"));
  }
}

TEST_F(SessionSources, ForWhichMemoryIsShortLetTheProfilerStartLater) {
  one.overhead = [](uint32_t) -> const char* { throw std::bad_alloc(); };
  Profiler profiler({.sources = {{&one}}});
  EXPECT_EQ(profiler.Start().error().code, ErrorCode::kOutOfMemory);
  one.overhead = nullptr;
  EXPECT_TRUE(profiler.Start().ok());
}

TEST_F(SessionSources, StopWithTheirFlightRecorderWhenTheRecordingIsDestroyed) {
  const TemporaryFolder folder;
  Session session({.path = folder.File("f.opscope"), .signal = SIGUSR1});
  auto recording = session.Prepare({.sources = {{&one}}}).value();
  struct sigaction before{}, after{};
  ASSERT_EQ(sigaction(SIGUSR1, nullptr, &before), 0);
  ASSERT_TRUE(recording->Start().ok());
  session.Forget();
  recording.reset();
  ASSERT_EQ(sigaction(SIGUSR1, nullptr, &after), 0);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
  EXPECT_THAT(asked, ElementsAre("start one", "stop one"));
}

TEST_F(SessionSources, OfAnotherVersionAreRefusedBeforeAnythingBegins) {
  two.abi = kSourceAbi + 1;
  Recording recording({.sources = {{&one}, {&two}}});
  EXPECT_THAT(recording.Start().error().message, HasSubstr("another version"));
  EXPECT_TRUE(asked.empty());
}

TEST(RecordingMetadata, ThatIsNoJsonIsRefused) {
  Recording wrong({.metadata_json = "\"model\":"});
  EXPECT_EQ(wrong.Start().error().code, ErrorCode::kInvalidArgument);
  Recording recording({.metadata_json = "\"model\": 1"});
  EXPECT_FALSE(recording.AddMetadata("early", "resnet18"));
  ASSERT_TRUE(recording.Start().ok());
  EXPECT_FALSE(recording.AddMetadata("late", "1}"));
  EXPECT_TRUE(recording.AddMetadata("text", "\"resnet18\""));
  recording.Stop();
  const Result<Recording::SharedTrace> trace = recording.ReadTrace();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(MetadataOf(*trace.value(), "model"), "1");
  EXPECT_EQ(MetadataOf(*trace.value(), "text"), "\"resnet18\"");
  EXPECT_FALSE(trace.value()->is_partial());
}

TEST_F(SessionSources, ReportWhatTheyLostInOneProblem) {
  static uint64_t lost_by_one, lost_by_two;
  lost_by_one = 100;  // before the recording
  lost_by_two = 0;
  one.failures = [] { return lost_by_one; };
  two.failures = [] { return lost_by_two; };
  Recording recording({.sources = {{&one}, {&two}}});
  ASSERT_TRUE(recording.Start().ok());
  lost_by_one += 2;
  lost_by_two += 3;
  recording.Stop();
  const Result<Recording::SharedTrace> trace = recording.ReadTrace();
  ASSERT_TRUE(trace.ok());
  const auto& problems = trace.value()->problems();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(trace.value()->text(problems.kind[0]), "source_failure");
  EXPECT_EQ(problems.count[0], 5u);
}

TEST_F(SessionSources, SayWhatTheirEventsCost) {
  one.overhead = [](uint32_t flags) {
    return flags == 1 ? "\"torch_op\":{\"inside_ns\":3.00,\"begin_ns\":2.00,\"end_ns\":1.50,\"floor_ns\":0.50}" : "";
  };
  Recording recording({.sources = {{&one, 1}}});
  ASSERT_TRUE(recording.Start().ok());
  one.Run("operator");
  recording.Stop();
  const Result<Recording::SharedTrace> trace = recording.ReadTrace();
  ASSERT_TRUE(trace.ok());
  ASSERT_TRUE(trace.value()->info().overheads.has_value());
  const auto& rows = trace.value()->info().overheads->rows;
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                          [](const OverheadRow& row) { return row.source == "torch" && row.cost.inside_ns == 3.0; }));
}

TEST_F(SessionSources, ArePausedWhereTheyCanBe) {
  one.pause = [](void* session, bool paused) { static_cast<FakeSource*>(session)->paused = paused; };
  Recording recording({.sources = {{&one}, {&two}}});
  recording.Pause(true);
  EXPECT_FALSE(one.paused) << "it does not run";
  ASSERT_TRUE(recording.Start().ok());
  recording.Pause(true);
  EXPECT_TRUE(one.paused);
  recording.Pause(false);
  EXPECT_FALSE(one.paused);
}

TEST_F(SessionSources, AreAskedByTheNamesOfTheirFlags) {
  const std::string_view both[] = {"memory", "shapes"}, wrong[] = {"colours"};
  EXPECT_EQ(UseSource(one, both).value().flags, 5u);
  EXPECT_EQ(UseSource(one).value().flags, 0u);
  EXPECT_EQ(UseSource(one, wrong).error().message, "the source one has no flag \"colours\"; it has: shapes, memory");
}

TEST_F(SessionSources, RecordBesideTheScopesOfAProfiler) {
  Profiler profiler({.sources = {{&one}}});
  ASSERT_TRUE(profiler.Start().ok());
  {
    OPSCOPE_SCOPE("native");
    one.Run("operator");
  }
  ASSERT_TRUE(profiler.Stop().ok());
  const TemporaryFolder folder;
  const std::string path = folder.File("both.opscope");
  ASSERT_TRUE(profiler.Save(path).ok());
  EXPECT_THAT(NamesOf(ImportFile(path).value()), testing::UnorderedElementsAre("native", "operator"));
}

class SessionCycles : public SessionSources {
 protected:
  std::shared_ptr<Recording> Cycle(const char* name, RecordingOptions options = {}, bool adds_up = true) {
    options.native_threads = NativeThreads::kNone;
    options.sources = {{&one}};
    auto recording = session.Prepare(std::move(options), adds_up).value();
    EXPECT_TRUE(recording->Start().ok());
    one.Run(name);
    recording->Stop();
    return recording;
  }
  Session session;
};

TEST_F(SessionCycles, AddUpOldestFirstWhereTheyAreAskedTo) {
  const auto first = Cycle("first"), second = Cycle("second"), third = Cycle("third");
  EXPECT_THAT(NamesOf(third->ReadAll()), ElementsAre("first", "second", "third"));
  EXPECT_THAT(NamesOf(third->ReadTrace()), ElementsAre("third"));
  EXPECT_THAT(NamesOf(second->ReadAll()), ElementsAre("first", "second")) << "results of before stay as they were";
  EXPECT_THAT(NamesOf(Cycle("apart", {}, false)->ReadAll()), ElementsAre("apart"));
}

TEST_F(SessionCycles, ShowThoseBeforeWhileOneRuns) {
  Cycle("first");
  const auto running = session.Prepare({.sources = {{&one}}}, true).value();
  ASSERT_TRUE(running->Start().ok());
  one.Run("second");
  EXPECT_THAT(NamesOf(running->ReadAll()), ElementsAre("first"));
  running->Stop();
  EXPECT_THAT(NamesOf(running->ReadAll()), ElementsAre("first", "second"));
}

TEST_F(SessionCycles, ShareTheCapAndCountWhatGaveWay) {
  constexpr uint64_t kCap = uint64_t{1} << 20;
  std::shared_ptr<Recording> last;
  for (int cycle = 0; cycle < 20; ++cycle)
    last = Cycle("operator", {.max_bytes = kCap, .at_cap = AtCap::kKeepNewest});
  const Result<Recording::SharedTrace> trace = last->ReadAll();
  ASSERT_TRUE(trace.ok());
  const TraceInfo& info = trace.value()->info();
  EXPECT_EQ(info.recorded + info.dropped, 20u) << "nothing is lost in silence";
  EXPECT_LT(info.recorded, 20u) << "a chunk of each cycle does not fit below the cap";
  EXPECT_GE(info.recorded, 1u);
}

TEST_F(SessionCycles, HaveFilesOfTheirOwn) {
  const TemporaryFolder folder;
  const std::string path = folder.File("x.opscope");
  for (const char* name : {"first", "second"})
    Cycle(name, {.record_to = path}, false);
  EXPECT_THAT(NamesOf(ImportFile(path).value()), ElementsAre("first"));
  EXPECT_THAT(NamesOf(ImportFile(folder.File("x.2.opscope")).value()), ElementsAre("second"));
}

TEST_F(SessionCycles, MayOutliveTheirSession) {
  std::shared_ptr<Recording> recording;
  {
    Session short_lived;
    recording = short_lived.Prepare({.sources = {{&one}}}).value();
    ASSERT_TRUE(recording->Start().ok());
  }
  one.Run("operator");
  recording->Stop();
  EXPECT_THAT(NamesOf(recording->ReadTrace()), ElementsAre("operator"));
}

TEST_F(SessionCycles, BelongToTheProcessThatStartedThem) {
  ASSERT_TRUE(session.Start().ok());
  EXPECT_FALSE(session.Start().ok());
  const auto recording = session.Prepare({.sources = {{&one}}}).value();
  ASSERT_TRUE(recording->Start().ok());
  asked.clear();
  const pid_t child = fork();
  if (child == 0) {
    recording->Stop();
    const bool is_quiet = asked.empty() && !session.is_started() && recording->is_inherited() && recording->is_over() &&
                          !recording->ReadTrace().ok() && recording->slot() == 0 && recording->counts().recorded == 0;
    _exit(is_quiet ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(recording->is_running());
  EXPECT_TRUE(session.is_started());
}

}  // namespace
}  // namespace opscope
