// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <new>
#include <thread>
#include <vector>

namespace opscope {
namespace {

size_t ThreadsOfThisProcess() {
  size_t count = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks))
    count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(tasks);
  return count;
}

TEST(ThreadTeam, TakesEveryIndexOnce) {
  for (const size_t members : {size_t{0}, size_t{1}, size_t{2}, size_t{7}}) {
    ThreadTeam team(members);
    for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{1000}}) {
      std::vector<int> taken(count);
      team.ForEach(count, [&](size_t index, size_t member) {
        EXPECT_LT(member, team.size());
        ++taken[index];
      });
      EXPECT_EQ(taken, std::vector<int>(count, 1)) << members << " members";
    }
  }
}

TEST(ThreadTeam, LeavesNoThreadBehind) {
  std::thread([] {}).join();  // the first one may bring a sanitizer's own
  const size_t before = ThreadsOfThisProcess();
  {
    ThreadTeam team(4);
    EXPECT_EQ(team.size(), 4u);
    EXPECT_EQ(ThreadsOfThisProcess(), before + 3);
  }
  EXPECT_EQ(ThreadsOfThisProcess(), before);
}

// A job that needs all members: none leaves before all have come.
TEST(ThreadTeam, HelpersBlockSignalsButNotFaults) {
  ThreadTeam team(3);
  std::mutex mutex;
  std::condition_variable all_came;
  size_t came = 0, helpers = 0;
  team.Run([&](size_t member) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    std::unique_lock lock(mutex);
    if (member != 0) {
      ++helpers;
      for (const int sent : {SIGINT, SIGTERM, SIGALRM, SIGPROF, SIGUSR1, SIGCHLD})
        EXPECT_EQ(sigismember(&mask, sent), 1) << sent;
      EXPECT_EQ(sigismember(&mask, SIGSEGV), 0);
    }
    ++came;
    all_came.notify_all();
    all_came.wait(lock, [&] { return came == team.size(); });
  });
  EXPECT_EQ(helpers, 2u);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0) << "the caller's own mask is as it was";
}

TEST(ThreadTeam, HandsWhatAnyMemberThrowsToTheCaller) {
  ThreadTeam team(3);
  for (const size_t bad : {size_t{0}, size_t{500}, size_t{999}}) {
    EXPECT_THROW(team.ForEach(1000,
                              [&](size_t index, size_t) {
                                if (index == bad) throw std::bad_alloc();
                              }),
                 std::bad_alloc);
  }
  std::atomic<size_t> calls{0};
  team.ForEach(1000, [&](size_t, size_t) { calls.fetch_add(1, std::memory_order_relaxed); });
  EXPECT_EQ(calls, 1000u) << "and is as good as before";
}

TEST(ThreadTeam, CountsTheProcessorsThatTheThreadMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(AllowedProcessors(), 1u);
  EXPECT_EQ(DefaultThreadCount(), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(AllowedProcessors(), static_cast<unsigned>(CPU_COUNT(&before)));
  EXPECT_EQ(DefaultThreadCount(), std::min<size_t>(static_cast<size_t>(CPU_COUNT(&before)), 8));
}

}  // namespace
}  // namespace opscope
