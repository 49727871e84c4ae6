// Fork while recording: the child belongs to no recording, lives, and can record for itself.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

// Runs `check` in a forked child; it returns 0 when all is well.
int ExitOfChild(const std::function<int()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a deadlock is a failure, not a hang
    _exit(check());
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Fork, TheChildIsDetachedAndTheParentGoesOn) {
  OwnedWindow window = OpenTestWindow();
  const uint64_t before = opscope_window_counts(window.get()).recorded;
  Scope around("around the fork");
  {
    OPSCOPE_SCOPE("before");
  }
  EXPECT_EQ(ExitOfChild([&] {
              if (opscope_gate.load() != 0) return 1;
              {
                OPSCOPE_SCOPE("in the child");
              }
              if (opscope_window_counts(window.get()).recorded != before) return 2;
              opscope_window_close(window.get());
              DecodedWindow decoded;
              opscope_window_read(window.get(), DecodeBlock, &decoded);
              if (decoded.info.find("\"detached\":true") == std::string::npos) return 3;
              return decoded.threads.empty() ? 0 : 4;
            }),
            0);
  {
    OPSCOPE_SCOPE("after");
  }
  const DecodedWindow decoded = CloseAndDecode(window.get());
  ASSERT_EQ(decoded.only_thread().records.size(), 3u);
  EXPECT_EQ(decoded.only_thread().records[0].name, "before");
  EXPECT_EQ(decoded.only_thread().records[1].name, "after");
}

TEST(Fork, AChunkThatIsOnLoanFromAClosedWindowDoesNotHangTheChild) {
  OwnedWindow window = OpenTestWindow();
  {
    OPSCOPE_SCOPE("before");
  }
  std::thread([&] { opscope_window_close(window.get()); }).join();  // this thread has not noticed yet
  EXPECT_EQ(ExitOfChild([&] {
              alarm(10);  // a deadlock is a failure, not a hang
              OwnedWindow own = OpenTestWindow();
              {
                OPSCOPE_SCOPE("in the child");
              }
              return CloseAndDecode(own.get()).only_thread().recorded == 1 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(opscope_window_counts(window.get()).recorded, 1u);
}

TEST(Fork, TheChildRecordsForItself) {
  OwnedWindow parents = OpenTestWindow();
  const uint64_t parents_id = opscope_window_id(parents.get());
  Scope around("around the fork");
  EXPECT_EQ(ExitOfChild([&] {
              parents.reset();
              OwnedWindow own = OpenTestWindow();
              for (int i = 0; i < 20000; ++i)
                OPSCOPE_SCOPE("own");
              const DecodedWindow decoded = CloseAndDecode(own.get());
              if (decoded.only_thread().records.size() != 20000) return 1;
              if (decoded.only_thread().process != static_cast<uint32_t>(getpid())) return 2;
              if (NumberAfter(decoded.info, "parent_pid") != static_cast<uint64_t>(getppid())) return 4;
              if (NumberAfter(decoded.info, "parent_generation") != parents_id) return 5;
              return ::testing::Test::HasFailure() ? 3 : 0;
            }),
            0);
}

TEST(Fork, AClosedRecordingIsReadableInTheChild) {
  OwnedWindow window = OpenTestWindow();
  for (int i = 0; i < 20000; ++i)
    OPSCOPE_SCOPE("x");
  opscope_window_close(window.get());
  EXPECT_EQ(ExitOfChild([&] {
              const size_t seen = CloseAndDecode(window.get()).only_thread().records.size();
              window.reset();
              return seen == 20000 && !::testing::Test::HasFailure() ? 0 : 1;
            }),
            0);
}

// Descriptor that this process has open on the file; -1: none.
int DescriptorOfFile(const std::string& path) {
  struct stat file{}, facts{};
  if (stat(path.c_str(), &file) != 0) return -1;
  for (int number = 3; number < 256; ++number) {
    if (fstat(number, &facts) == 0 && facts.st_dev == file.st_dev && facts.st_ino == file.st_ino) return number;
  }
  return -1;
}

TEST(Fork, TheChildKeepsADescriptorThatTheProgramPutInPlaceOfTheFile) {
  const std::string path = testing::TempDir() + "/forked.opscope";
  OwnedWindow window = OpenTestWindow({.record_to = path.c_str()});
  const int number = DescriptorOfFile(path);
  ASSERT_GE(number, 3);
  const int other = open("/dev/null", O_RDWR | O_CLOEXEC);
  ASSERT_EQ(dup2(other, number), number);
  close(other);
  EXPECT_EQ(ExitOfChild([number] { return fcntl(number, F_GETFD) < 0 ? 1 : 0; }), 0);
  window.reset();
  EXPECT_GE(fcntl(number, F_GETFD), 0) << "nor does the end of the recording close it";
  close(number);
  unlink(path.c_str());
}

TEST(Fork, ManyForksWhileThreadsRecordHarmNobody) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer's allocator may be locked by another thread at fork; the child then hangs in it";
#endif
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (int t = 0; t < 3; ++t) {
    writers.emplace_back([&done] {
      while (!done.load(std::memory_order_relaxed)) {
        OPSCOPE_SCOPE("outer");
        OPSCOPE_SCOPE("inner");
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    // A small cap under kKeepNewest keeps the writers in the slow paths.
    OwnedWindow window = OpenTestWindow({.at_cap = AtCap::kKeepNewest, .max_bytes = 4 * kChunkBytes});
    while (opscope_window_counts(window.get()).recorded < 100)
      std::this_thread::yield();
    EXPECT_EQ(ExitOfChild([&] {
                window.reset();
                OwnedWindow own = OpenTestWindow();
                for (int k = 0; k < 10000; ++k)
                  OPSCOPE_SCOPE("own");
                return CloseAndDecode(own.get()).only_thread().records.size() == 10000 ? 0 : 1;
              }),
              0);
    CloseAndDecode(window.get());
  }
  done.store(true);
  for (std::thread& writer : writers)
    writer.join();
}

TEST(Shortage, WithoutMemoryRecordsAreDroppedAndCounted) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space of their own";
#endif
  for (const AtCap at_cap : {AtCap::kStop, AtCap::kKeepNewest}) {
    EXPECT_EQ(ExitOfChild([at_cap] {
                OwnedWindow window = OpenTestWindow({.at_cap = at_cap});
                {
                  OPSCOPE_SCOPE("warm");
                }
                const rlimit none{1, 1};
                if (setrlimit(RLIMIT_AS, &none) != 0) return 1;
                constexpr uint64_t kScopes = 1000000;
                errno = EXDEV;
                {
                  OPSCOPE_SCOPE("around");
                  for (uint64_t i = 0; i < kScopes; ++i)
                    OPSCOPE_SCOPE("x");
                }
                if (errno != EXDEV) return 4;  // the program's own
                opscope_window_close(window.get());
                const WindowCounts counts = opscope_window_counts(window.get());
                if (counts.recorded + counts.dropped != kScopes + 2) return 2;
                if (counts.dropped == 0 || counts.recorded < 50000) return 3;
                return 0;
              }),
              0);
  }
}

TEST(Shortage, AWindowIsRefusedOrEmptyButNothingBreaks) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space of their own";
#endif
  EXPECT_EQ(ExitOfChild([] {
              std::vector<char> used_up(1 << 20);
              const rlimit none{1, 1};
              if (setrlimit(RLIMIT_AS, &none) != 0) return 1;
              const WindowOptions options;
              const char* error = "";
              Window* window = opscope_window_open(&options, &error);
              for (int i = 0; i < 100000; ++i)
                OPSCOPE_SCOPE("x");
              if (window == nullptr) return std::string(error) == "out of memory" ? 0 : 2;
              const WindowCounts counts = opscope_window_counts(window);
              return counts.recorded + counts.dropped == 100000 ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace opscope
