// Everything that a program does with fork while eight threads record: no child hangs or crashes, and in
// the parent nothing is lost and nothing is there twice. OPSCOPE_SOAK=1 makes a thousand children.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

int ChildrenOfEachWay() {
  return std::getenv("OPSCOPE_SOAK") != nullptr ? 84 : 4;
}

void RunTrue() {
  execl("/bin/true", "true", nullptr);
  _exit(9);
}

// Opens a window of its own, records, and checks what it got. The exit status of a child.
int OwnSession() {
  OwnedWindow own = OpenTestWindow();
  for (int i = 0; i < 3000; ++i)
    OPSCOPE_SCOPE("own");
  const DecodedWindow decoded = CloseAndDecode(own.get());
  if (decoded.only_thread().recorded != 3000) return 1;
  if (NumberAfter(decoded.info, "pid") != static_cast<uint64_t>(getpid())) return 2;
  return NumberAfter(decoded.info, "parent_pid") == static_cast<uint64_t>(getppid()) ? 0 : 3;
}

int StatusOf(pid_t child) {
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

void RecordInTheChild() {
  for (int i = 0; i < 1000; ++i)
    OPSCOPE_SCOPE("to nobody");
}

// What a child does; it must end with status 0, or by SIGABRT for kAbort.
enum Way {
  kUnderscoreExit,
  kExit,
  kExec,
  kVforkExec,
  kPosixSpawn,
  kAbort,
  kDoubleFork,
  kCloseAll,
  kRecord,
  kOwnSession,
  kThreadThenExit,
  kGrandchild,
  kWays
};

[[noreturn]] void Child(Way way) {
  alarm(30);  // a deadlock is a failure, not a hang
  switch (way) {
    case kExit:
      RecordInTheChild();
      std::exit(0);
    case kExec:
      RunTrue();
      break;
    case kAbort: {
      const rlimit none{0, 0};
      setrlimit(RLIMIT_CORE, &none);
      std::abort();
    }
    case kDoubleFork: {
      const pid_t second = fork();
      if (second == 0) _exit(OwnSession());
      _exit(StatusOf(second));
    }
    case kCloseAll:
      for (int descriptor = 0; descriptor < 1024; ++descriptor)
        close(descriptor);
      _exit(OwnSession());
    case kRecord:
      RecordInTheChild();
      break;
    case kOwnSession:
      _exit(OwnSession());
    case kThreadThenExit:
      std::thread(RecordInTheChild).join();
      std::exit(0);
    case kGrandchild: {
      if (OwnSession() != 0) _exit(1);
      OwnedWindow own = OpenTestWindow();
      RecordInTheChild();
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        own.reset();
        _exit(OwnSession());
      }
      RecordInTheChild();
      const int status = StatusOf(grandchild);
      _exit(status != 0 ? status : CloseAndDecode(own.get()).only_thread().recorded == 2000 ? 0 : 4);
    }
    default:
      break;
  }
  _exit(0);
}

pid_t Start(Way way) {
  if (way == kPosixSpawn) {
    char name[] = "true";
    char* const arguments[] = {name, nullptr};
    pid_t child = -1;
    return posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, nullptr) == 0 ? child : -1;
  }
  if (way == kVforkExec) {
    const pid_t child = vfork();
    if (child == 0) RunTrue();
    return child;
  }
  const pid_t child = fork();
  if (child == 0) Child(way);
  return child;
}

// Eight threads that issue numbered events until they are stopped.
class Writers {
 public:
  Writers() {
    for (int t = 0; t < 8; ++t) {
      threads_.emplace_back([this] {
        uint64_t number = 0;
        while (!done_.load(std::memory_order_relaxed)) {
          OPSCOPE_SCOPE("around");
          for (int i = 0; i < 1000; ++i)
            RecordNow(RecordKind::kInstant, "event", number++);
          std::this_thread::yield();
        }
        issued_ += number;
      });
    }
  }
  uint64_t Stop() {
    done_ = true;
    for (std::thread& thread : threads_)
      thread.join();
    threads_.clear();
    return issued_;
  }
  ~Writers() { Stop(); }

 private:
  std::atomic<bool> done_{false};
  std::atomic<uint64_t> issued_{0};
  std::vector<std::thread> threads_;
};

TEST(ForkWays, ChildrenLiveAndTheParentLosesNothing) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer's allocator may be locked by another thread at fork; the child then hangs in it";
#endif
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer allows no new threads in a child of many threads";
#endif
  OwnedWindow window = OpenTestWindow({.at_cap = AtCap::kKeepNewest, .max_bytes = 64 * kChunkBytes});
  Writers writers;
  while (opscope_window_counts(window.get()).recorded < 8000)
    std::this_thread::yield();
  int children = 0;
  for (int round = 0; round < ChildrenOfEachWay(); ++round) {
    for (int way = 0; way < kWays; ++way) {
      std::fflush(nullptr);
      const pid_t child = Start(static_cast<Way>(way));
      ASSERT_GT(child, 0);
      int status = -1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      if (way == kAbort) {
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << "round " << round;
      } else {
        ASSERT_TRUE(WIFEXITED(status)) << "way " << way << " round " << round << " signal " << WTERMSIG(status);
        ASSERT_EQ(WEXITSTATUS(status), 0) << "way " << way << " round " << round;
      }
      ++children;
    }
  }
  const uint64_t issued = writers.Stop();
  const DecodedWindow decoded = CloseAndDecode(window.get());
  uint64_t events = 0, recorded = 0, dropped = 0;
  for (const auto& [index, thread] : decoded.threads) {
    uint64_t expected = ~uint64_t{0};
    for (const DecodedRecord& record : thread.records) {
      if (record.name != "event") continue;
      ASSERT_TRUE(expected == ~uint64_t{0} || record.record.value == expected) << "thread " << index;
      expected = record.record.value + 1;
      ++events;
    }
    recorded += thread.recorded;
    dropped += thread.dropped;
  }
  EXPECT_GT(events, 0u);
  EXPECT_EQ(recorded + dropped, issued + issued / 1000);
  std::printf("%d children of %d ways: 0 hung, 0 crashed; %llu events of 8 threads, none lost, none twice\n", children,
              static_cast<int>(kWays), static_cast<unsigned long long>(issued));
}

}  // namespace
}  // namespace opscope
