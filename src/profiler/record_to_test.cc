// record_to: the recording lies in its file while it is made.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/record_to.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "flight/temporary_folder_for_test.h"
#include "opscope/import.h"
#include "opscope/profiler.h"
#include "trace/problem_count_for_test.h"

namespace opscope {
namespace {

std::vector<std::string> SpanNames(const Trace& trace, bool unfinished) {
  std::vector<std::string> names;
  const SpanColumns& spans = trace.spans();
  for (size_t i = 0; i < spans.size(); ++i) {
    if (((spans.flags[i] & span_flags::kUnfinished) != 0) == unfinished) names.emplace_back(trace.text(spans.name[i]));
  }
  return names;
}

bool HasSpan(const Trace& trace, std::string_view name) {
  const auto finished = SpanNames(trace, false);
  return std::find(finished.begin(), finished.end(), name) != finished.end();
}

Trace Open(const std::string& path) {
  Result<Trace> trace = ImportFile(path);
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return trace.ok() ? std::move(trace).value() : Trace();
}

// Runs `job` in a child that is killed at its end; returns its process number.
pid_t RunAndKill(const std::function<void()>& job) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    job();
    kill(getpid(), SIGKILL);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  return child;
}

TEST(RecordTo, IsTakenFromTheEnvironmentWithoutAPath) {
  const TemporaryFolder folder;
  const std::string pid = std::to_string(getpid());
  setenv("OPSCOPE_RECORD_TO", folder.File("run.opscope").c_str(), 1);
  const std::string first = RecordingPath("", 1);
  {
    Profiler asked_for({.record_to = folder.File("own.opscope")});
    Profiler unasked;
    EXPECT_TRUE(asked_for.Start().ok());
    EXPECT_TRUE(unasked.Start().ok());
    {
      OPSCOPE_SCOPE("work");
    }
    EXPECT_TRUE(asked_for.Stop().ok());
    EXPECT_TRUE(unasked.Stop().ok());
  }
  unsetenv("OPSCOPE_RECORD_TO");
  EXPECT_EQ(RecordingPath("", 1), "");
  EXPECT_TRUE(first.starts_with(folder.File("run." + pid))) << first;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename());
    EXPECT_TRUE(HasSpan(Open(entry.path()), "work")) << entry.path();
  }
  std::sort(names.begin(), names.end());
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0], "own.opscope");
  EXPECT_TRUE(names[1].starts_with("run." + pid + ".") && names[1].ends_with(".opscope")) << names[1];
  EXPECT_NE(folder.File(names[1]), first) << "each recording has a file of its own";
}

TEST(RecordTo, TheFileIsTheRecording) {
  const TemporaryFolder folder;
  const std::string path = folder.File("x.opscope");
  Profiler profiler({.record_to = path});
  ASSERT_TRUE(profiler.Start().ok());
  for (int i = 0; i < 20000; ++i) {
    OPSCOPE_SCOPE("outer");
    OPSCOPE_SCOPE("inner");
  }
  std::thread([] { OPSCOPE_SCOPE("elsewhere"); }).join();
  ASSERT_TRUE(profiler.Stop().ok());
  const Trace trace = Open(path);
  EXPECT_FALSE(trace.is_partial());
  EXPECT_EQ(trace.problems().size(), 0u);
  EXPECT_EQ(trace.spans().size(), 40001u);
  EXPECT_EQ(trace.info().recorded, 40001u);
  ASSERT_TRUE(profiler.Save(folder.File("saved.opscope")).ok());
  const Trace saved = Open(folder.File("saved.opscope"));
  EXPECT_EQ(saved.spans().size(), trace.spans().size());
  EXPECT_EQ(saved.info().epoch_ns, trace.info().epoch_ns);
  EXPECT_TRUE(std::equal(trace.spans().start.begin(), trace.spans().start.end(), saved.spans().start.begin()));
}

TEST(RecordTo, AKilledProcessLeavesWhatItHadDoneAndWhatWasOpen) {
  const TemporaryFolder folder;
  const std::string path = folder.File("x.opscope");
  const pid_t child = RunAndKill([&] {
    Profiler profiler({.record_to = path});
    (void)profiler.Start();
    Scope outer("outer");
    for (int i = 0; i < 10000; ++i)
      OPSCOPE_SCOPE("done");
    Scope inner("inner");
    inner.Arg("batch", 3);
    kill(getpid(), SIGKILL);
  });
  const Trace trace = Open(folder.File("x." + std::to_string(child) + ".opscope"));
  EXPECT_TRUE(trace.is_partial());
  EXPECT_EQ(ProblemCount(trace, "recording_not_ended"), 1u);
  EXPECT_EQ(ProblemCount(trace, "truncated"), 0u);
  EXPECT_EQ(ProblemCount(trace, "damaged_block"), 0u);
  EXPECT_EQ(ProblemCount(trace, "unfinished_scope"), 2u);
  EXPECT_EQ(SpanNames(trace, true), (std::vector<std::string>{"outer", "inner"}));
  EXPECT_EQ(SpanNames(trace, false).size(), 10000u);
  EXPECT_EQ(trace.info().recorded, 10002u);
  EXPECT_EQ(trace.info().dropped, 0u);
  const SpanColumns& spans = trace.spans();
  for (size_t i = 0; i < spans.size(); ++i) {
    if (trace.text(spans.name[i]) != "inner") continue;
    EXPECT_NE(trace.text(spans.extra[i]).find("\"batch\":3"), std::string::npos) << trace.text(spans.extra[i]);
    EXPECT_EQ(spans.depth[i], 1u);
  }
}

TEST(RecordTo, OpenScopesAreShownHoweverDeep) {
  constexpr size_t kDepth = 1500;
  const TemporaryFolder folder;
  const pid_t child = RunAndKill([&] {
    Profiler profiler({.record_to = folder.File("x.opscope")});
    (void)profiler.Start();
    std::deque<Scope> scopes;
    for (size_t i = 0; i < kDepth; ++i) {
      scopes.emplace_back("deep");
      for (int j = 0; j < 20; ++j)
        OPSCOPE_SCOPE("leaf");
    }
    kill(getpid(), SIGKILL);
  });
  const Trace trace = Open(folder.File("x." + std::to_string(child) + ".opscope"));
  EXPECT_EQ(ProblemCount(trace, "open_scopes_hidden"), 0u);
  EXPECT_EQ(SpanNames(trace, true), std::vector<std::string>(kDepth, "deep"));
  EXPECT_EQ(SpanNames(trace, false).size(), kDepth * 20);
}

TEST(RecordTo, AScopeThatEndsElsewhereIsNotShownAsOpen) {
  const TemporaryFolder folder;
  const pid_t child = RunAndKill([&] {
    Profiler profiler({.record_to = folder.File("x.opscope")});
    (void)profiler.Start();
    Scope stays("stays");
    OpenScope* goes = BeginNativeScope("goes");
    std::thread([&] { EndNativeScope(goes); }).join();
    kill(getpid(), SIGKILL);
  });
  const Trace trace = Open(folder.File("x." + std::to_string(child) + ".opscope"));
  EXPECT_EQ(SpanNames(trace, true), std::vector<std::string>{"stays"});
  EXPECT_TRUE(HasSpan(trace, "goes"));
}

TEST(RecordTo, EachRecordingOfAScheduleHasItsFile) {
  const TemporaryFolder folder;
  Profiler profiler({.schedule = Schedule{.wait = 1, .active = 1, .repeat = 3}, .record_to = folder.File("x.opscope")});
  ASSERT_TRUE(profiler.Start().ok());
  for (int i = 0; i < 6; ++i) {
    {
      OPSCOPE_SCOPE("work");
    }
    ASSERT_TRUE(profiler.Step().ok());
  }
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_EQ(folder.FileCount(), 3u);
  for (const char* name : {"x.opscope", "x.2.opscope", "x.3.opscope"}) {
    const Trace trace = Open(folder.File(name));
    EXPECT_FALSE(trace.is_partial()) << name;
    EXPECT_TRUE(HasSpan(trace, "work")) << name;
  }
}

TEST(RecordTo, ThePathTakesNumberAndProcessBeforeTheExtension) {
  EXPECT_EQ(RecordingPath("a/x.opscope", 1), "a/x.opscope");
  EXPECT_EQ(RecordingPath("a/x.opscope", 2), "a/x.2.opscope");
  EXPECT_EQ(RecordingPath("a.b/x", 3), "a.b/x.3");
  EXPECT_EQ(RecordingPath(".x", 2), ".x.2");
  EXPECT_EQ(RecordingPath("", 2), "");
}

TEST(RecordTo, AFileThatIsThereIsReplacedAndNotCut) {
  const TemporaryFolder folder;
  const std::string path = folder.File("x.opscope");
  std::ofstream(path) << "somebody reads this";
  std::ifstream reader(path);
  Profiler profiler({.record_to = path});
  ASSERT_TRUE(profiler.Start().ok());
  std::string text;
  std::getline(reader, text);
  EXPECT_EQ(text, "somebody reads this");
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_FALSE(Open(path).is_partial());
  EXPECT_EQ(folder.FileCount(), 1u);
  struct stat facts{};
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0600u);
}

TEST(RecordTo, WhereNoFileCanBeTheRecordingIsInMemoryAndSaysSo) {
  const TemporaryFolder folder;
  for (const std::string& path : {folder.File("missing/x.opscope"), folder.path(), std::string("/dev/full")}) {
    std::vector<std::string> warnings;
    Profiler profiler({.on_warning = [&](std::string_view text) { warnings.emplace_back(text); }, .record_to = path});
    ASSERT_TRUE(profiler.Start().ok()) << path;
    {
      OPSCOPE_SCOPE("work");
    }
    ASSERT_TRUE(profiler.Stop().ok());
    ASSERT_EQ(warnings.size(), 1u) << path;
    EXPECT_EQ(warnings[0].rfind("record_to: " + path + ": ", 0), 0u) << warnings[0];
    EXPECT_NE(warnings[0].find("the recording is kept in memory"), std::string::npos) << warnings[0];
    ASSERT_TRUE(profiler.Save(folder.File("saved.opscope")).ok());
    const Trace saved = Open(folder.File("saved.opscope"));
    EXPECT_TRUE(HasSpan(saved, "work"));
    EXPECT_EQ(ProblemCount(saved, "record_to_failed"), 1u);
    EXPECT_FALSE(saved.is_partial());
    EXPECT_EQ(folder.FileCount(), 1u);
  }
}

TEST(RecordTo, KeepNewestReusesTheFilesPlaces) {
  const TemporaryFolder folder;
  constexpr uint64_t kCap = uint64_t{2} << 20;
  const pid_t child = RunAndKill([&] {
    Profiler profiler({.max_bytes = kCap, .at_cap = AtCap::kKeepNewest, .record_to = folder.File("x.opscope")});
    (void)profiler.Start();
    Scope outer("outer");
    for (int i = 0; i < 500000; ++i)  // 16 MB
      OPSCOPE_SCOPE("old");
    for (int i = 0; i < 1000; ++i)
      OPSCOPE_SCOPE("new");
    kill(getpid(), SIGKILL);
  });
  const std::string path = folder.File("x." + std::to_string(child) + ".opscope");
  struct stat facts{};
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_LE(static_cast<uint64_t>(facts.st_size), kCap + (uint64_t{5} << 20));  // rounded up to a segment
  const Trace trace = Open(path);
  EXPECT_EQ(SpanNames(trace, true), std::vector<std::string>{"outer"});
  const auto done = SpanNames(trace, false);
  EXPECT_GE(done.size(), kCap / 2 / sizeof(Record));
  EXPECT_EQ(std::count(done.begin(), done.end(), "new"), 1000);
  EXPECT_EQ(trace.info().recorded + trace.info().dropped, 501001u);
  EXPECT_EQ(ProblemCount(trace, "missing_chunk"), 0u);
}

TEST(RecordTo, ThreadsThatEndLeaveTheirRecordsInLittleRoom) {
  constexpr size_t kManyThreads = 400;
  const TemporaryFolder folder;
  const pid_t child = RunAndKill([&] {
    Profiler profiler({.record_to = folder.File("x.opscope")});
    (void)profiler.Start();
    for (size_t i = 0; i < kManyThreads; ++i) {
      std::thread([] {
        OPSCOPE_SCOPE("request");
        for (int j = 0; j < 20; ++j)
          OPSCOPE_SCOPE("part");
      }).join();
    }
    kill(getpid(), SIGKILL);
  });
  const std::string path = folder.File("x." + std::to_string(child) + ".opscope");
  EXPECT_LE(std::filesystem::file_size(path), uint64_t{10} << 20);  // 8 KiB each, and the segments
  const Trace trace = Open(path);
  EXPECT_EQ(trace.info().recorded, kManyThreads * 21);
  EXPECT_EQ(trace.spans().size(), kManyThreads * 21);
  EXPECT_EQ(ProblemCount(trace, "missing_chunk"), 0u);
  EXPECT_EQ(ProblemCount(trace, "unfinished_scope"), 0u);
}

TEST(RecordTo, AChildOfForkLeavesTheParentsFileAlone) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the hooks of fork take the recorder's locks in another order, while there is one thread";
#endif
  const TemporaryFolder folder;
  const std::string path = folder.File("x.opscope");
  Profiler profiler({.record_to = path});
  ASSERT_TRUE(profiler.Start().ok());
  OpenScope* outer = BeginNativeScope("outer");
  pid_t child;
  {
    OPSCOPE_SCOPE("before");
    child = RunAndKill([&] {
      for (int i = 0; i < 20000; ++i)
        OPSCOPE_SCOPE("child");
      Profiler own({.record_to = path});
      (void)own.Start();
      {
        OPSCOPE_SCOPE("own");
      }
      (void)own.Stop();
      (void)profiler.Stop();  // the parent's: nothing to do with the file either
    });
  }
  for (int i = 0; i < 20000; ++i)
    OPSCOPE_SCOPE("after");
  EndNativeScope(outer);
  ASSERT_TRUE(profiler.Stop().ok());
  const Trace trace = Open(path);
  EXPECT_EQ(trace.problems().size(), 0u);
  EXPECT_EQ(trace.spans().size(), 20002u);
  EXPECT_FALSE(HasSpan(trace, "child"));
  const Trace own = Open(folder.File("x." + std::to_string(child) + ".opscope"));
  EXPECT_EQ(SpanNames(own, false), std::vector<std::string>{"own"});
}

}  // namespace
}  // namespace opscope
