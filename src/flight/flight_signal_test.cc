// Dumps on a signal, and what becomes of handlers.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>
#include <thread>

#include "flight/dumper_thread.h"
#include "flight/flight_for_test.h"
#include "opscope/profiler.h"

namespace opscope {
namespace {

using SignalHandler = void (*)(int);

// sa_handler and sa_sigaction are one address.
SignalHandler HandlerOf(int signal) {
  struct sigaction action{};
  sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

Options OnSignal(const DumpFolder& folder, int signal) {
  return {.max_bytes = uint64_t{4} << 20,
          .at_cap = AtCap::kKeepNewest,
          .flight = {.path = folder.File("f.opscope"), .signal = signal}};
}

std::atomic<int> user_calls{0};
void CountSignal(int /*signal*/) {
  user_calls.fetch_add(1);
  errno = EDOM;
}

TEST(FlightSignal, DumpsWhileEveryThreadHoldsItsLocks) {
  const DumpFolder folder;
  Profiler profiler(OnSignal(folder, SIGUSR1));
  ASSERT_TRUE(profiler.Start().ok());
  {
    std::mutex user_lock;
    const std::lock_guard<std::mutex> held(user_lock);
    OPSCOPE_SCOPE("outer");
    OPSCOPE_SCOPE("critical section");
    errno = ENOTTY;
    kill(getpid(), SIGUSR1);
    EXPECT_EQ(errno, ENOTTY);
    Await([&] { return profiler.dumps().size() == 1; });
  }
  kill(getpid(), SIGUSR1);
  Await([&] { return profiler.dumps().size() == 2; });
  ASSERT_TRUE(profiler.Stop().ok());
  const ReadDump first = Read(profiler.dumps()[0]), second = Read(profiler.dumps()[1]);
  EXPECT_EQ(first.open, "outer critical section ");
  EXPECT_NE(first.options.find("\"reason\":\"signal\",\"detail\":\"SIGUSR1\""), std::string::npos) << first.options;
  EXPECT_EQ(second.open, "");
  EXPECT_EQ(second.spans, 2u);
}

TEST(FlightSignal, NothingIsInstalledThatNobodyAskedFor) {
  SignalHandler before[65];
  for (int signal = 1; signal < 65; ++signal)
    before[signal] = HandlerOf(signal);
  const DumpFolder folder;
  Profiler profiler({.flight = {.path = folder.File("f.opscope"), .on_exception = true}});
  ASSERT_TRUE(profiler.Start().ok());
  for (int signal = 1; signal < 65; ++signal)
    EXPECT_EQ(HandlerOf(signal), before[signal]) << signal;
  ASSERT_TRUE(profiler.Stop().ok());
}

TEST(FlightSignal, TheHandlerBeforeIsCalledAndComesBack) {
  const DumpFolder folder;
  const SignalHandler original = ::signal(SIGUSR1, CountSignal);
  user_calls.store(0);
  {
    Profiler one(OnSignal(folder, SIGUSR1)), two(OnSignal(folder, SIGUSR1));
    ASSERT_TRUE(one.Start().ok());
    ASSERT_TRUE(two.Start().ok());
    raise(SIGUSR1);
    EXPECT_EQ(user_calls.load(), 1);
    Await([&] { return one.dumps().size() == 1 && two.dumps().size() == 1; });
    ASSERT_TRUE(one.Stop().ok());
    EXPECT_NE(HandlerOf(SIGUSR1), CountSignal) << "two still listens";
    ASSERT_TRUE(two.Stop().ok());
  }
  EXPECT_EQ(HandlerOf(SIGUSR1), CountSignal);
  ::signal(SIGUSR1, original);
}

TEST(FlightSignal, AHandlerThatCameLaterStays) {
  const DumpFolder folder;
  const SignalHandler original = HandlerOf(SIGUSR1);
  Profiler profiler(OnSignal(folder, SIGUSR1));
  ASSERT_TRUE(profiler.Start().ok());
  ::signal(SIGUSR1, CountSignal);
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_EQ(HandlerOf(SIGUSR1), CountSignal);
  ::signal(SIGUSR1, original);
}

struct sigaction action_below;
std::atomic<int> chained_calls{0};
void CountAndChain(int signal, siginfo_t* info, void* context) {
  chained_calls.fetch_add(1);
  if ((action_below.sa_flags & SA_SIGINFO) != 0) {
    action_below.sa_sigaction(signal, info, context);
  } else {
    action_below.sa_handler(signal);
  }
}

void InstallChained() {
  struct sigaction action{};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = CountAndChain;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &action_below), 0);
}

// As a library does that calls what was there before it: here, the handler of the recorder.
TEST(FlightSignal, AHandlerThatCallsItMayComeAndGoBetweenRecordings) {
  const SignalHandler original = ::signal(SIGUSR1, CountSignal);
  for (const bool goes_between : {true, false, false}) {
    const DumpFolder folder;
    user_calls.store(0);
    chained_calls.store(0);
    Profiler first(OnSignal(folder, SIGUSR1)), second(OnSignal(folder, SIGUSR1)), third(OnSignal(folder, SIGUSR1));
    ASSERT_TRUE(first.Start().ok());
    InstallChained();
    ASSERT_TRUE(first.Stop().ok());
    if (goes_between) {
      ASSERT_EQ(sigaction(SIGUSR1, &action_below, nullptr), 0);
    }
    ASSERT_TRUE(second.Start().ok());
    raise(SIGUSR1);
    Await([&] { return second.dumps().size() == 1; });
    EXPECT_EQ(user_calls.load(), 1);
    EXPECT_EQ(chained_calls.load(), goes_between ? 0 : 1);
    ASSERT_TRUE(second.Stop().ok());
    raise(SIGUSR1);
    EXPECT_EQ(user_calls.load(), 2);
    EXPECT_EQ(chained_calls.load(), goes_between ? 0 : 2);
    ASSERT_TRUE(third.Start().ok());
    raise(SIGUSR1);
    Await([&] { return third.dumps().size() == 1; });
    EXPECT_EQ(user_calls.load(), 3);
    ASSERT_TRUE(third.Stop().ok());
    EXPECT_EQ(folder.FileCount(), 2u);
    EXPECT_EQ(HandlerOf(SIGUSR1) == CountSignal, goes_between);
    ::signal(SIGUSR1, CountSignal);
  }
  ::signal(SIGUSR1, original);
}

TEST(FlightSignal, OneThatEndsTheJobStillDoes) {
  const DumpFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    Profiler profiler(OnSignal(folder, SIGTERM));
    if (!profiler.Start().ok()) _exit(1);
    OPSCOPE_SCOPE("last words");
    kill(getpid(), SIGTERM);
    for (;;)
      pause();
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_EQ(Read(folder.only()).open, "last words ");
}

// Its dump lasts until the handler is gone.
struct DumpThatLasts final : DumpListener {
  std::atomic<int> calls{0};
  void OnSignalReceived(int signal) override {
    calls.fetch_add(1);
    Await([&] { return HandlerOf(signal) == SIG_DFL; });
  }
  bool OnHang(int64_t /*ns*/) override { return true; }
};

TEST(FlightSignal, OneThatEndsTheJobStillDoesWhenTheRecorderStopsDuringTheDump) {
  const pid_t child = fork();
  if (child == 0) {
    DumpThatLasts dump;
    DumperThread thread(&dump);
    if (!thread.Start(SIGTERM, 0).ok()) _exit(1);
    kill(getpid(), SIGTERM);
    Await([&] { return dump.calls.load() == 1; });
    thread.Stop();
    _exit(2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

TEST(FlightSignal, OneJustBeforeTheStopIsAnswered) {
  const SignalHandler original = ::signal(SIGUSR1, SIG_DFL);
  DumpThatLasts dump;
  DumperThread thread(&dump);
  ASSERT_TRUE(thread.Start(SIGUSR1, 0).ok());
  raise(SIGUSR1);
  Await([&] { return dump.calls.load() == 1; });
  raise(SIGUSR1);
  thread.Stop();
  EXPECT_EQ(dump.calls.load(), 2);
  ::signal(SIGUSR1, original);
}

TEST(FlightSignal, AStormOfSignalsWhileThreadsRecordLosesNothing) {
  const DumpFolder folder;
  Profiler profiler(OnSignal(folder, SIGUSR1));
  ASSERT_TRUE(profiler.Start().ok());
  std::atomic<bool> ends{false};
  std::atomic<int> at_work{0};
  std::atomic<uint64_t> issued{0};
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back([&] {
      uint64_t count = 0;
      while (!ends.load(std::memory_order_relaxed)) {
        {
          OPSCOPE_SCOPE("work");
        }
        if (++count == 1) at_work.fetch_add(1);
      }
      issued.fetch_add(count);
    });
  }
  Await([&] { return at_work.load() == 3; });  // else the first dump may have nothing to show
  while (profiler.dumps().size() < 5) {
    kill(getpid(), SIGUSR1);
    std::this_thread::yield();
  }
  ends.store(true);
  for (std::thread& worker : workers)
    worker.join();
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_EQ(profiler.recorded() + profiler.dropped(), issued.load());
  for (const std::string& file : profiler.dumps())
    EXPECT_GT(Read(file).spans, 0u);
}

}  // namespace
}  // namespace opscope
