// At the cap of a window that stops: cost of a dropped event, and its count.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

void FillChunk(Stream* stream) {
  while (HasRoom(stream, 0))
    AppendRecord(stream, Record{.kind = RecordKind::kInstant});
}

// Six events of every kind that a program makes.
void IssueSix() {
  OPSCOPE_SCOPE("outer");
  const Scope copied("made at run time");
  OPSCOPE_SCOPE("inner");
  Counter("counter", 1);
  Instant("instant");
  FlowBegin("flow", 1);
}

// From here on every system call but the end kills the process.
bool ForbidSystemCalls() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(code)), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

constexpr int kForbidden = 0, kCannotForbid = 2;

[[noreturn]] void IssueWithoutSystemCalls() {
  OwnedWindow window = OpenTestWindow({.max_bytes = kChunkBytes});
  FillChunk(StreamIn(window));
  IssueSix();  // the first notices that there is no more
  if (!ForbidSystemCalls()) _exit(kCannotForbid);
  for (int i = 0; i < 1000; ++i)
    IssueSix();
  _exit(kForbidden);
}

TEST(AtTheCap, AnEventThatIsNotKeptMakesNoSystemCall) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers make system calls of their own";
#endif
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) IssueWithoutSystemCalls();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotForbid) GTEST_SKIP() << "the system has no seccomp";
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
}

TEST(AtTheCap, EveryThreadsEventsAreCountedAndTheNextWindowHasThemAgain) {
  constexpr int kThreads = 64;
  constexpr uint64_t kRounds = 2000;
  OwnedWindow small = OpenTestWindow({.max_bytes = kChunkBytes});
  OwnedWindow next;
  std::barrier turn(kThreads + 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&turn] {
      for (int window = 0; window < 2; ++window) {
        turn.arrive_and_wait();
        for (uint64_t i = 0; i < kRounds; ++i)
          IssueSix();
        turn.arrive_and_wait();
      }
    });
  }
  turn.arrive_and_wait();
  turn.arrive_and_wait();
  CloseAndDecode(small.get());
  next = OpenTestWindow();
  turn.arrive_and_wait();
  turn.arrive_and_wait();
  for (std::thread& thread : threads)
    thread.join();
  const WindowCounts at_cap = opscope_window_counts(small.get());
  EXPECT_EQ(at_cap.recorded + at_cap.dropped, kThreads * kRounds * 6);
  EXPECT_GT(at_cap.dropped, 0u);
  const DecodedWindow decoded = CloseAndDecode(next.get());
  EXPECT_EQ(opscope_window_counts(next.get()).recorded, kThreads * kRounds * 6);
  EXPECT_EQ(opscope_window_counts(next.get()).dropped, 0u);
}

TEST(AtTheCap, AScopeThatWasOpenWhenTheCapCameIsCountedWhenItEnds) {
  OwnedWindow window = OpenTestWindow({.max_bytes = kChunkBytes});
  Stream* stream = StreamIn(window);
  OpenScope* before = OpenNamed(stream, "before");
  FillChunk(stream);
  IssueSix();
  EXPECT_EQ(opscope_window_counts(window.get()).dropped, 6u);
  End(before);
  EXPECT_EQ(opscope_window_counts(window.get()).dropped, 7u);
  EXPECT_EQ(BeginNativeScope("after"), nullptr);
  EXPECT_EQ(opscope_window_counts(window.get()).dropped, 8u);
}

TEST(AtTheCap, AWindowThatHasRoomGetsWhatAnotherRefuses) {
  OwnedWindow small = OpenTestWindow({.max_bytes = kChunkBytes});
  OwnedWindow large = OpenTestWindow();
  FillChunk(StreamIn(small));
  for (int i = 0; i < 1000; ++i)
    IssueSix();
  EXPECT_EQ(CloseAndDecode(large.get()).only_thread().recorded, 6000u);
  EXPECT_EQ(CloseAndDecode(small.get()).only_thread().dropped, 6000u);
}

std::atomic<uint64_t> handled{0};

TEST(AtTheCap, HandlersThatComeAtAnyMomentAreCountedToo) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer calls handlers later, out of place";
#endif
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) {
    IssueSix();
    handled.fetch_add(1, std::memory_order_relaxed);
  };
  action.sa_flags = SA_RESTART;
  handled = 0;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  OwnedWindow window = OpenTestWindow({.max_bytes = kChunkBytes});
  FillChunk(StreamIn(window));
  std::atomic<uint64_t> issued{0};
  std::atomic<bool> done{false};
  std::thread writer([&] {
    uint64_t rounds = 0;
    for (; !done.load(std::memory_order_relaxed); ++rounds)
      IssueSix();
    issued = rounds;
  });
  while (handled.load() < 200) {
    pthread_kill(writer.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  done = true;
  writer.join();
  sigaction(SIGUSR1, &before, nullptr);
  const DecodedWindow decoded = CloseAndDecode(window.get());
  uint64_t dropped = 0;
  for (const auto& [index, thread] : decoded.threads)
    dropped += thread.dropped;
  EXPECT_EQ(dropped, 6 * (issued.load() + handled.load()));
}

}  // namespace
}  // namespace opscope
