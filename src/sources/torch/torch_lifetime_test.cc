// What must hold at the edges of a window: stop from elsewhere, late copies of a callback, ranges that
// end after it, memory over many windows.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <latch>
#include <memory>
#include <thread>

#include "sources/torch/recorded_window_for_test.h"

namespace opscope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

size_t OwnCallbacks() {
  return at::get_record_function_tls_().sorted_tls_callbacks_.size();
}

TEST(TorchLifetime, StopOnTheSameThreadRemovesTheCallback) {
  const RecordedWindow window;
  void* session = window.Start();
  EXPECT_EQ(OwnCallbacks(), 1u);
  TheSource().stop(session);
  EXPECT_EQ(OwnCallbacks(), 0u);
  TheSource().stop(session);  // again: nothing
  (void)at::ones({1});
  window.Close();
  EXPECT_THAT(window.Ranges(), IsEmpty());
}

TEST(TorchLifetime, StopFromAnotherThreadSilencesTheCallback) {
  const RecordedWindow window;
  std::latch started(1), stopped(1);
  void* session = nullptr;
  std::thread worker([&] {
    session = window.Start();
    (void)at::empty({1});
    started.count_down();
    stopped.wait();
    (void)at::empty({1});
    (void)at::zeros({1});
    EXPECT_EQ(OwnCallbacks(), 1u);  // only its own thread could take it out
    const RecordedWindow next;
    void* second = next.Start();
    EXPECT_EQ(OwnCallbacks(), 1u);  // and does so at the next start
    (void)at::empty({1});
    TheSource().stop(second);
    next.Close();
    EXPECT_EQ(OwnCallbacks(), 0u);
    EXPECT_THAT(next.Names(), ElementsAre("aten::empty"));
  });
  started.wait();
  TheSource().stop(session);
  window.Close();
  stopped.count_down();
  worker.join();
  EXPECT_THAT(window.Names(), ElementsAre("aten::empty"));
}

TEST(TorchLifetime, InstancesComeBackFromStopsElsewhereAndFromEndedThreads) {
  for (int i = 0; i < 200; ++i) {  // 64 instances: each must come back three times
    const RecordedWindow window;
    void* session = nullptr;
    std::thread([&] { session = window.Start(); }).join();
    ASSERT_NE(session, nullptr) << "round " << i;
    TheSource().stop(session);
    window.Close();
  }
  for (int i = 0; i < 200; ++i) {
    const RecordedWindow window;
    void* session = window.Start();
    ASSERT_NE(session, nullptr) << "round " << i;
    std::thread([&] { TheSource().stop(session); }).join();
    window.Close();
  }
  const RecordedWindow window;
  TheSource().stop(window.Start());
  EXPECT_EQ(OwnCallbacks(), 0u);
}

TEST(TorchLifetime, SaysSoWhenAllInstancesAreTaken) {
  const RecordedWindow window;
  std::vector<void*> sessions;
  const char* error = nullptr;
  for (void* session = window.Start(); session != nullptr; session = window.Start(0, &error))
    sessions.push_back(session);
  EXPECT_EQ(sessions.size(), 64u);
  EXPECT_STREQ(error, "all 64 callback instances of the PyTorch source are taken");
  for (void* session : sessions)
    TheSource().stop(session);
  EXPECT_EQ(OwnCallbacks(), 0u);
  void* session = window.Start();
  EXPECT_NE(session, nullptr);
  TheSource().stop(session);
}

TEST(TorchLifetime, LateCopiesOfACallbackMeetNoOtherWindow) {
  std::unique_ptr<at::ThreadLocalState> copy;  // what a future or jit::fork keeps
  const RecordedWindow first;
  void* session = first.Start();
  copy = std::make_unique<at::ThreadLocalState>();
  TheSource().stop(session);
  first.Close();

  const RecordedWindow second;
  void* next = second.Start();
  std::thread([&] {
    const at::ThreadLocalStateGuard guard(*copy);
    EXPECT_EQ(OwnCallbacks(), 1u);
    (void)at::ones({1});
  }).join();
  TheSource().stop(next);
  second.Close();
  EXPECT_THAT(first.Ranges(), IsEmpty());
  EXPECT_THAT(second.Ranges(), IsEmpty());
}

TEST(TorchLifetime, CallbacksThatTorchPutsBackAreSweptAtTheNextStart) {
  const RecordedWindow first;
  {
    void* session = first.Start();
    const at::ThreadLocalStateGuard guard{at::ThreadLocalState()};
    TheSource().stop(session);
    EXPECT_EQ(OwnCallbacks(), 0u);
  }  // the guard restores the list of before
  EXPECT_EQ(OwnCallbacks(), 1u);
  first.Close();
  const RecordedWindow second;
  void* session = second.Start();
  EXPECT_EQ(OwnCallbacks(), 1u);
  (void)at::empty({1});
  TheSource().stop(session);
  second.Close();
  EXPECT_EQ(OwnCallbacks(), 0u);
  EXPECT_THAT(second.Names(), ElementsAre("aten::empty"));
}

TEST(TorchLifetime, RangesThatOutliveTheWindowAreUnfinished) {
  auto range = std::make_unique<at::RecordFunction>(at::RecordScope::FUNCTION);
  EXPECT_FALSE(range->isActive());
  const RecordedWindow window;
  void* session = window.Start();
  range = std::make_unique<at::RecordFunction>(at::RecordScope::FUNCTION);
  range->before("late");
  (void)at::empty({1});
  TheSource().stop(session);
  window.Close();
  const auto ranges = window.Ranges();
  std::thread([&] { range.reset(); }).join();

  ASSERT_EQ(window.Named("late").size(), 1u);
  EXPECT_EQ(window.Named("late")[0].record.flags & record_flags::kUnfinished, record_flags::kUnfinished);
  EXPECT_EQ(window.Named("aten::empty")[0].record.depth, 1);
  EXPECT_EQ(window.Ranges().size(), ranges.size());
}

TEST(TorchLifetime, AWindowClosedBeforeItsSessionStopsIsNotWrittenTo) {
  const RecordedWindow first;
  void* session = first.Start();
  first.Close();
  const RecordedWindow second;  // takes the same slot
  (void)at::ones({1});
  TheSource().stop(session);
  second.Close();
  EXPECT_THAT(first.Ranges(), IsEmpty());
  EXPECT_THAT(second.Ranges(), IsEmpty());
}

TEST(TorchUserRange, IsNoRangeWhileNobodyObserves) {
  EXPECT_EQ(TheTorchSource().enter("range", 5, nullptr, 0), nullptr);
}

TEST(TorchUserRange, IsSeenByOtherObserversToo) {
  static std::vector<std::string>* seen = nullptr;
  std::vector<std::string> names;
  seen = &names;
  at::RecordFunctionCallback observer([](const at::RecordFunction& range) -> std::unique_ptr<at::ObserverContext> {
    seen->push_back(std::string(range.name()) + "/" + range.inputs()[0].toStringRef());
    return nullptr;
  });
  const auto handle = at::addThreadLocalCallback(observer.needsInputs(true).scopes({at::RecordScope::USER_SCOPE}));
  void* range = TheTorchSource().enter("a range of mine, cut", 10, "arguments", 9);
  ASSERT_NE(range, nullptr);
  TheTorchSource().exit(range);
  at::removeCallback(handle);
  EXPECT_THAT(names, ElementsAre("a range of/arguments"));
}

TEST(TorchUserRange, IsAUserScopeAndKnowsSteps) {
  const RecordedWindow window;
  void* session = window.Start();
  void* step = TheTorchSource().enter("ProfilerStep#3", 14, nullptr, 0);
  void* range = TheTorchSource().enter("mine", 4, "text", 4);
  TheTorchSource().exit(range);
  TheTorchSource().exit(step);
  TheSource().stop(session);
  window.Close();
  const auto ranges = window.Ranges();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].name, "mine");
  EXPECT_EQ(ranges[0].record.scope, static_cast<uint8_t>(at::RecordScope::USER_SCOPE));
  EXPECT_EQ(ranges[0].record.flags, 0);
  EXPECT_EQ(ranges[1].record.flags, record_flags::kStep);
}

TEST(TorchUserRange, MayEndOnAnotherThreadWhenAsynchronous) {
  const RecordedWindow window;
  void* session = window.Start();
  void* range = TheTorchSource().enter("async", 5, nullptr, 0);
  TheTorchSource().set_async(range);
  (void)at::empty({1});
  std::thread([&] { TheTorchSource().exit(range); }).join();
  (void)at::empty({2});  // takes the ended range out of the list of open ones
  (void)at::empty({3});
  TheSource().stop(session);
  window.Close();
  const auto ranges = window.Named("async");
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].record.kind, RecordKind::kAsync);
  EXPECT_EQ(ranges[0].record.flags & record_flags::kUnfinished, 0);
  ASSERT_EQ(window.Named("aten::empty").size(), 3u);
  EXPECT_EQ(window.Named("aten::empty")[2].record.depth, 0);
}

TEST(TorchUserRange, IsAsynchronousAsItWasMarkedAtItsBegin) {
  const RecordedWindow window;
  void* session = window.Start();
  {
    at::RecordFunction collective(at::RecordScope::USER_SCOPE);  // as the process groups of c10d make theirs
    collective._setAsync();
    collective.before("marked before");
    (void)at::empty({1});
  }
  void* awaiting = TheTorchSource().enter("marked after", 12, nullptr, 0);
  TheTorchSource().set_async(awaiting);
  TheTorchSource().exit(awaiting);
  TheSource().stop(session);
  window.Close();
  ASSERT_EQ(window.Named("marked before").size(), 1u);
  EXPECT_EQ(window.Named("marked before")[0].record.kind, RecordKind::kAsync);
  EXPECT_EQ(window.Named("marked before")[0].record.flags, 0);
  ASSERT_EQ(window.Named("marked after").size(), 1u);
  EXPECT_EQ(window.Named("marked after")[0].record.kind, RecordKind::kScope);
}

TEST(TorchUserRange, BelongsToTheThreadThatBeginsIt) {
  const RecordedWindow window;
  void* session = window.Start();
  at::RecordFunction collective(at::RecordScope::USER_SCOPE);
  collective._setAsync();
  uint64_t number = 0;
  std::thread([&] {
    collective.before("begun elsewhere");
    number = at::RecordFunction::currentThreadId();
    collective.end();
  }).join();
  TheSource().stop(session);
  window.Close();
  ASSERT_EQ(window.Named("begun elsewhere").size(), 1u);
  EXPECT_EQ(window.Named("begun elsewhere")[0].logical_thread, number);
  EXPECT_NE(number, at::RecordFunction::currentThreadId());
}

size_t ResidentBytes() {
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

TEST(TorchLifetime, AThousandWindowsWithNewNamesLeaveNothingBehind) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps freed memory resident";
#endif
  const at::Tensor x = at::ones({2, 3});
  const at::Tensor y = at::ones({2, 3}).t().contiguous().t();
  const auto cycle = [&](int number) {
    const RecordedWindow window;
    void* session = window.Start(torch_source_flags::kInputs | torch_source_flags::kOverloadNames);
    const std::string name = "a name that no window had before, number " + std::to_string(number);
    void* range = TheTorchSource().enter(name.data(), name.size(), nullptr, 0);
    for (int i = 0; i < 1000; ++i)
      (void)at::add(x, y);
    TheTorchSource().exit(range);
    TheSource().stop(session);
    window.Close();
    ASSERT_EQ(window.Counts().recorded, 1001u);
  };
  int number = 0;
  const auto growth_of = [&](int windows) {
    const size_t before = ResidentBytes();
    for (const int end = number + windows; number < end; ++number)
      cycle(number);
    return static_cast<int64_t>(ResidentBytes()) - static_cast<int64_t>(before);
  };
  growth_of(50);
  // What windows left behind would grow in every quarter; pages that malloc keeps or gives back do once.
  int64_t least = INT64_MAX;
  for (int quarter = 0; quarter < 4; ++quarter)
    least = std::min(least, growth_of(250));
  EXPECT_LT(least, int64_t{1} << 18);
}

}  // namespace
}  // namespace opscope
