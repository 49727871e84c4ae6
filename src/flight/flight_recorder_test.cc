// Dumps on request, by the watchdog, of many at once; and what a dump that fails does to the job.
// Signals and ends of the program are in flight_signal_test.cc and flight_end_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/flight_recorder.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "flight/flight_for_test.h"
#include "opscope/profiler.h"

namespace opscope {
namespace {

TEST(FlightRecorder, DumpsOnRequestAndTheRecordingGoesOn) {
  const DumpFolder folder;
  Profiler profiler({.at_cap = AtCap::kKeepNewest});
  EXPECT_EQ(profiler.Dump(folder.File("x.opscope")).error().message, "flight recorder: nothing is being recorded");
  ASSERT_TRUE(profiler.Start().ok());
  EXPECT_EQ(profiler.Dump().error().message, "flight recorder: no path for the dump");
  Scope outer("outer");
  const Result<std::string> first = profiler.Dump(folder.File("{number}.opscope"));
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first.value(), folder.File("1.opscope"));
  {
    OPSCOPE_SCOPE("inner");
  }
  ASSERT_TRUE(profiler.Dump(folder.File("{number}.opscope")).ok());
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_EQ(profiler.recorded(), 2u);
  EXPECT_EQ(profiler.dumps(), (std::vector<std::string>{folder.File("1.opscope"), folder.File("2.opscope")}));
  const ReadDump one = Read(folder.File("1.opscope")), two = Read(folder.File("2.opscope"));
  EXPECT_EQ(one.open, "outer ");
  EXPECT_EQ(one.spans, 1u);
  EXPECT_EQ(two.open, "outer ");
  EXPECT_EQ(two.spans, 2u);
  EXPECT_NE(one.options.find("\"number\":1,\"reason\":\"request\",\"unix_ns\":"), std::string::npos) << one.options;
  EXPECT_NE(two.options.find("\"number\":2,"), std::string::npos) << two.options;
  struct stat facts;
  ASSERT_EQ(stat(folder.File("1.opscope").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0600u);
  EXPECT_EQ(folder.FileCount(), 2u) << "nothing else stays";
}

TEST(FlightRecorder, WrongOptionsAreSaidAtTheStart) {
  const auto start = [](FlightOptions options) { return Profiler({.flight = options}).Start().error().message; };
  EXPECT_EQ(start({.signal = 10}), "flight recorder: automatic dumps need a path");
  EXPECT_EQ(start({.path = "x", .signal = 9}), "flight recorder: SIGKILL cannot be handled");
  EXPECT_EQ(start({.path = "x", .signal = 11}),
            "flight recorder: SIGSEGV stands for a fault of the program, which does not go on");
  EXPECT_EQ(start({.path = "x", .signal = 1000}), "flight recorder: signal 1000 is not a signal for programs");
  EXPECT_EQ(start({.path = "x", .no_step_for = std::chrono::milliseconds(-1)}),
            "flight recorder: the time without a step is negative");
}

// Three scopes around a condition that stays false until the test sets it.
class HungThread {
 public:
  HungThread() : thread_([this] { Run(); }) {
    Await([this] { return hangs_.load(); });
  }
  ~HungThread() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      goes_on_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void Run() {
    OPSCOPE_SCOPE("step");
    OPSCOPE_SCOPE("all_reduce");
    OPSCOPE_SCOPE("wait");
    std::unique_lock<std::mutex> lock(mutex_);
    hangs_.store(true);
    changed_.wait(lock, [this] { return goes_on_; });
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> hangs_{false};
  bool goes_on_ = false;
  std::thread thread_;
};

TEST(FlightRecorder, TheWatchdogDumpsOncePerHang) {
  const DumpFolder folder;
  Profiler profiler({.at_cap = AtCap::kKeepNewest,
                     .flight = {.path = folder.File("f.opscope"), .no_step_for = std::chrono::milliseconds(200)}});
  ASSERT_TRUE(profiler.Start().ok());
  for (size_t hang = 1; hang <= 2; ++hang) {
    {
      const HungThread hung;
      Await([&] { return profiler.dumps().size() == hang; });
      // A second dump of the same hang would come within the next of its periods.
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      EXPECT_EQ(profiler.dumps().size(), hang);
    }
    ASSERT_TRUE(profiler.Step().ok());
  }
  const std::vector<std::string> files = profiler.dumps();
  ASSERT_TRUE(profiler.Stop().ok());
  for (const std::string& file : files) {
    const ReadDump dump = Read(file);
    EXPECT_EQ(dump.open, "step all_reduce wait ");
    EXPECT_NE(dump.options.find("\"reason\":\"no_step\""), std::string::npos) << dump.options;
  }
}

TEST(FlightRecorder, TheWatchdogIsQuietWhileStepsCome) {
  const DumpFolder folder;
  Profiler profiler({.flight = {.path = folder.File("f.opscope"), .no_step_for = std::chrono::seconds(2)}});
  ASSERT_TRUE(profiler.Start().ok());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (std::chrono::steady_clock::now() < end) {
    ASSERT_TRUE(profiler.Step().ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(profiler.dumps().empty());
  ASSERT_TRUE(profiler.Stop().ok());
}

TEST(FlightRecorder, ADumpThatCannotBeWrittenIsToldOnceAndTheJobGoesOn) {
  std::vector<std::string> told;
  Profiler profiler({.on_warning = [&](std::string_view sentence) { told.emplace_back(sentence); },
                     .flight = {.path = "/no/such/folder/f.opscope", .no_step_for = std::chrono::milliseconds(20)}});
  ASSERT_TRUE(profiler.Start().ok());
  EXPECT_NE(profiler.Dump().error().message.find("/no/such/folder/f-"), std::string::npos);
  EXPECT_TRUE(told.empty()) << "whoever asked has the answer";
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the watchdog has its try meanwhile
  for (int i = 0; i < 100 && told.empty(); ++i) {
    ASSERT_TRUE(profiler.Step().ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
  }
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told[0].find("dump (no_step): /no/such/folder/f-"), std::string::npos) << told[0];
  {
    OPSCOPE_SCOPE("goes on");
  }
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_EQ(profiler.recorded(), 1u);
}

TEST(FlightRecorder, AFullDeviceIsAnError) {
  Profiler profiler;
  ASSERT_TRUE(profiler.Start().ok());
  const Result<std::string> dumped = profiler.Dump("/dev/full");
  ASSERT_FALSE(dumped.ok());
  EXPECT_EQ(dumped.error().system_errno, ENOSPC) << dumped.error().message;
  ASSERT_TRUE(profiler.Stop().ok());
}

TEST(FlightRecorder, DumpsOfManyThreadsBesideStopAndFreeAreWholeOrRefused) {
  const DumpFolder folder;
  std::atomic<bool> ends{false};
  std::atomic<int> written{0};
  std::unique_ptr<Profiler> profiler =
      std::make_unique<Profiler>(Options{.at_cap = AtCap::kKeepNewest, .schedule = Schedule{.wait = 1, .active = 2}});
  ASSERT_TRUE(profiler->Start().ok());
  std::vector<std::thread> dumpers;
  for (int i = 0; i < 3; ++i) {
    dumpers.emplace_back([&, i] {
      const std::string file = folder.File("d" + std::to_string(i) + ".opscope");
      while (!ends.load()) {
        const Result<std::string> dumped = profiler->Dump(file);
        if (dumped.ok()) {
          written.fetch_add(1);
          Read(file);  // whole; without a span when it came between the opening of a window and its first step
        } else {
          EXPECT_EQ(dumped.error().message, "flight recorder: nothing is being recorded");
        }
      }
    });
  }
  for (int step = 0; step < 300 || written.load() < 20; ++step) {
    for (int i = 0; i < 300; ++i)
      OPSCOPE_SCOPE("work");
    ASSERT_TRUE(profiler->Step().ok());
    if (step % 50 == 49) {
      ASSERT_TRUE(profiler->Stop().ok());
      ASSERT_TRUE(profiler->Start().ok());
    }
  }
  ASSERT_TRUE(profiler->Stop().ok());
  ends.store(true);
  for (std::thread& dumper : dumpers)
    dumper.join();
  profiler.reset();
}

TEST(FlightRecorder, AChildOfForkHasNoneOfIt) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer allows no new threads in a child of many threads";
#endif
  const DumpFolder folder;
  Profiler profiler({.flight = {.path = folder.File("f.opscope"),
                                .signal = SIGUSR2,
                                .on_exception = true,
                                .no_step_for = std::chrono::milliseconds(50)}});
  ASSERT_TRUE(profiler.Start().ok());
  const pid_t child = fork();
  if (child == 0) {
    struct sigaction action;
    int wrong = sigaction(SIGUSR2, nullptr, &action) != 0 || action.sa_handler != SIG_DFL ? 1 : 0;
    wrong |= profiler.Dump().ok() ? 2 : 0;
    wrong |= !profiler.Stop().ok() ? 4 : 0;  // does not wait for a thread that is not there
    Profiler own({.flight = {.path = folder.File("child.opscope"), .signal = SIGUSR2}});
    wrong |= !own.Start().ok() ? 8 : 0;
    raise(SIGUSR2);
    Await([&] { return own.dumps().size() == 1; });
    wrong |= !own.Stop().ok() ? 16 : 0;
    _exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(profiler.Dump(folder.File("parent.opscope")).ok());
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_TRUE(Read(folder.File("child-" + std::to_string(child) + "-1.opscope")).options.find("SIGUSR2") !=
              std::string::npos);
}

}  // namespace
}  // namespace opscope
