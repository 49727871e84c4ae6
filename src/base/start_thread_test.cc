// SPDX-License-Identifier: Apache-2.0
#include "base/start_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include "base/no_threads_for_test.h"

namespace opscope {
namespace {

TEST(StartThread, RunsTheWorkWithoutTheSignalsOfTheProgram) {
  sigset_t blocked;
  sigemptyset(&blocked);
  std::thread thread;
  ASSERT_TRUE(StartThread([&] { pthread_sigmask(SIG_BLOCK, nullptr, &blocked); }, &thread).ok());
  thread.join();
  EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
  EXPECT_EQ(sigismember(&blocked, SIGSEGV), 0);
  sigset_t own;
  pthread_sigmask(SIG_BLOCK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGINT), 0) << "the caller's mask has changed";
}

TEST(StartThread, SaysWhyTheSystemRefuses) {
  const NoThreads none;
  std::thread thread;
  const Status started = StartThread([] { FAIL() << "it runs"; }, &thread);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().message, "no thread could be started: Resource temporarily unavailable");
  EXPECT_FALSE(thread.joinable());
}

}  // namespace
}  // namespace opscope
