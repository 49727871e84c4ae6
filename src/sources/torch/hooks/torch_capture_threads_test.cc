// Hooks in the GOT entries of torch (capture_mode.h) come and go with windows, whatever other threads and
// processes do.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ThreadLocalState.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "sources/torch/hooks/capture_programs_for_test.h"

namespace opscope {
namespace {

TEST_F(TorchCaptureMode, RestoresGotEntriesInAForkedChild) {
  const RecordedWindow window;
  void* session = window.Start();
  Adds(5);
  const pid_t child = fork();
  if (child == 0) {
    Adds(50);
    _exit(AreHooksInstalled() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Adds(5);
  TheSource().stop(session);
  window.Close();
  EXPECT_EQ(window.Named("aten::add").size(), 10u);
}

TEST_F(TorchCaptureMode, GoesWhereTorchCarriesTheWindowAndNowhereElse) {
  const RecordedWindow window;
  void* session = window.Start();
  const at::ThreadLocalState carried;
  std::thread([] { Adds(7); }).join();
  std::thread([&] {
    const at::ThreadLocalStateGuard guard(carried);
    Adds(3);
  }).join();
  TheSource().stop(session);
  window.Close();
  EXPECT_EQ(window.Named("aten::add").size(), 3u);
}

// Threads that no window watches, while windows of this one come and go.
TEST_F(TorchCaptureMode, IsTakenAndLeftUnderRunningOperators) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&stop] {
      while (!stop.load())
        TrainOneStep();
    });
  }
  for (int i = 0; i < 300; ++i) {
    const RecordedWindow window;
    void* session = window.Start(i % 2 != 0 ? torch_source_flags::kInputs : 0);
    Adds(20);
    TheSource().stop(session);
    window.Close();
    ASSERT_EQ(window.Named("aten::add").size(), 20u) << i;
  }
  stop.store(true);
  for (std::thread& worker : workers)
    worker.join();
}

// One window stays on this thread, by callbacks; another thread's windows point the slots to us and back.
TEST_F(TorchCaptureMode, ComesAndGoesUnderAWatchedThread) {
  setenv(kCaptureModeVariable, "callbacks", 1);
  const RecordedWindow window(uint64_t{1} << 30);
  void* session = window.Start();
  unsetenv(kCaptureModeVariable);
  std::atomic<bool> stop{false};
  std::atomic<int> windows{0};
  std::thread other([&] {
    while (!stop.load()) {
      const RecordedWindow short_one;
      void* its = short_one.Start();
      ++windows;
      TheSource().stop(its);
      short_one.Close();
    }
  });
  int steps = 0;
  for (; steps < 200 || windows.load() < 50; ++steps) {
    TrainOneStep();
    Adds(20);
  }
  stop.store(true);
  other.join();
  TheSource().stop(session);
  window.Close();
  const std::vector<RecordedRange> adds = window.Named("aten::add");
  EXPECT_EQ(adds.size(), static_cast<size_t>(20 * steps));
  for (const RecordedRange& add : adds)
    ASSERT_EQ(add.record.depth, 0);
  EXPECT_EQ(window.Named("MmBackward0").size(), static_cast<size_t>(steps));
  EXPECT_EQ(window.Counts().dropped, 0u);
}

}  // namespace
}  // namespace opscope
