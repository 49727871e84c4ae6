// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch_source.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <stdexcept>
#include <thread>

#include "sources/torch/recorded_window_for_test.h"

namespace opscope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(TorchSource, NamesTheTorchItWasBuiltAgainst) {
  EXPECT_EQ(TheTorchSource().abi, kTorchSourceAbi);
  EXPECT_EQ(TheSource().abi, kSourceAbi);
  EXPECT_EQ(opscope_source(), &TheSource());
  EXPECT_THAT(TheTorchSource().torch_version, ::testing::MatchesRegex("[0-9]+\\.[0-9]+.*"));
}

TEST(TorchSource, MeasuresItsOverheadUnseenByOtherObservers) {
  static int seen = 0;
  const auto handle = at::addGlobalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
        ++seen;
        return nullptr;
      }));
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kInputs);
  const std::string plain = TheSource().overhead(0);
  const std::string inputs = TheSource().overhead(torch_source_flags::kInputs);
  TheSource().stop(session);
  window.Close();
  at::removeCallback(handle);
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(window.Counts().recorded, 0u);
  EXPECT_THAT(plain, ::testing::MatchesRegex(R"("torch_op":\{"inside_ns":[0-9.]+,"begin_ns":[0-9.]+,.*)"));
  EXPECT_THAT(plain, Not(::testing::HasSubstr("torch_argument")));
  EXPECT_THAT(inputs, ::testing::HasSubstr("\"torch_argument\":{\"inside_ns\":"));
  EXPECT_THAT(inputs, ::testing::HasSubstr("\"torch_range\":{\"inside_ns\":"));
  EXPECT_EQ(inputs, TheSource().overhead(torch_source_flags::kInputs)) << "measured once per process";
}

TEST(TorchSource, RecordsOperatorsWithTheirNesting) {
  const RecordedWindow window;
  void* session = window.Start();
  (void)at::zeros({4});
  (void)at::ones({4});
  TheSource().stop(session);
  window.Close();

  EXPECT_THAT(window.Names(),
              ElementsAre("aten::empty", "aten::zero_", "aten::zeros", "aten::empty", "aten::fill_", "aten::ones"));
  std::vector<int> depths;
  for (const RecordedRange& range : window.Ranges()) {
    depths.push_back(range.record.depth);
    EXPECT_EQ(range.record.source, RecordSource::kTorch);
    EXPECT_EQ(range.record.kind, RecordKind::kScope);
    EXPECT_EQ(range.record.scope, static_cast<uint8_t>(at::RecordScope::FUNCTION));
    EXPECT_EQ(range.logical_thread, TheSource().thread_number());
    EXPECT_EQ(range.arguments, 0);
  }
  EXPECT_THAT(depths, ElementsAre(1, 1, 0, 1, 1, 0));
}

TEST(TorchSource, RecordsNothingThatBeginsWhilePaused) {
  const RecordedWindow window;
  void* session = window.Start();
  void* outer = TheTorchSource().enter("outer", 5, nullptr, 0);
  TheSource().pause(session, true);
  TheSource().pause(session, true);
  (void)at::zeros({4});
  EXPECT_EQ(window.Counts().recorded, 0u);
  TheTorchSource().exit(outer);
  std::thread([&] { TheSource().pause(session, false); }).join();
  (void)at::empty({4});
  TheSource().stop(session);
  TheSource().pause(session, false);  // of a session that is no more: nothing
  (void)at::empty({4});
  window.Close();
  EXPECT_THAT(window.Names(), ElementsAre("outer", "aten::empty"));
}

TEST(TorchSource, LinksBackwardNodesToTheirForwardOperators) {
  const at::Tensor x = at::ones({2}).requires_grad_(true);
  const RecordedWindow window;
  void* session = window.Start();
  at::mul(x, x).sum().backward();
  TheSource().stop(session);
  window.Close();

  const auto forward = window.Named("aten::mul");
  const auto backward = window.Named("MulBackward0");
  ASSERT_GE(forward.size(), 1u);
  ASSERT_EQ(backward.size(), 1u);
  EXPECT_EQ(backward[0].record.scope, static_cast<uint8_t>(at::RecordScope::BACKWARD_FUNCTION));
  EXPECT_EQ(backward[0].sequence, forward[0].sequence);
  EXPECT_EQ(backward[0].forward_thread, forward[0].logical_thread);
  EXPECT_EQ(forward[0].forward_thread, 0u);
}

TEST(TorchSource, KeepsOverloadNamesWhenAsked) {
  const at::Tensor x = at::ones({2});
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kOverloadNames);
  (void)at::add(x, x);
  TheSource().stop(session);
  window.Close();
  ASSERT_EQ(window.Named("aten::add").size(), 1u);
  EXPECT_EQ(window.Named("aten::add")[0].overload, "Tensor");
}

// Sets of options with overload names share start functions.
TEST(TorchSource, LeavesArgumentsToAnObserverThatAskedForThem) {
  const at::Tensor x = at::ones({2});
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction&) { return std::unique_ptr<at::ObserverContext>(); },
                                 [](const at::RecordFunction&, at::ObserverContext*) {})
          .needsInputs(true)
          .scopes({at::RecordScope::FUNCTION}));
  for (const uint32_t more : {0u, torch_source_flags::kStacks, torch_source_flags::kInputs}) {
    const RecordedWindow window;
    void* session = window.Start(torch_source_flags::kOverloadNames | more);
    (void)at::add(x, x);
    TheSource().stop(session);
    window.Close();
    const auto adds = window.Named("aten::add");
    ASSERT_EQ(adds.size(), 1u);
    EXPECT_EQ(adds[0].overload, "Tensor");
    EXPECT_EQ(adds[0].arguments, more == torch_source_flags::kInputs ? 3 : 0);
  }
  at::removeCallback(handle);
}

TEST(TorchSource, GivesTwoThreadsWindowsOfTheirOwn) {
  std::latch both_started(2);
  std::latch both_done(2);
  const auto run = [&](const char* own, std::vector<std::string>* names) {
    const RecordedWindow window;
    void* session = window.Start();
    both_started.arrive_and_wait();
    for (int i = 0; i < 100; ++i) {
      void* range = TheTorchSource().enter(own, std::strlen(own), nullptr, 0);
      (void)at::ones({2});
      TheTorchSource().exit(range);
    }
    both_done.arrive_and_wait();
    TheSource().stop(session);
    window.Close();
    *names = window.Names();
  };
  std::vector<std::string> first, second;
  std::thread other(run, "second", &second);
  run("first", &first);
  other.join();
  EXPECT_EQ(std::count(first.begin(), first.end(), "first"), 100);
  EXPECT_EQ(std::count(second.begin(), second.end(), "second"), 100);
  EXPECT_EQ(std::count(first.begin(), first.end(), "aten::ones"), 100);
  EXPECT_EQ(std::count(second.begin(), second.end(), "aten::ones"), 100);
  EXPECT_THAT(first, Not(Contains("second")));
  EXPECT_THAT(second, Not(Contains("first")));
}

TEST(TorchSource, LetsTwoWindowsOfOneThreadSeeTheSameOperators) {
  const RecordedWindow outer;
  void* outer_session = outer.Start();
  (void)at::ones({1});
  const RecordedWindow inner;
  void* inner_session = inner.Start(torch_source_flags::kInputs);
  (void)at::zeros({1});
  TheSource().stop(inner_session);
  inner.Close();
  (void)at::empty({1});
  TheSource().stop(outer_session);
  outer.Close();
  EXPECT_THAT(inner.Names(), ElementsAre("aten::empty", "aten::zero_", "aten::zeros"));
  EXPECT_THAT(outer.Names(), ElementsAre("aten::empty", "aten::fill_", "aten::ones", "aten::empty", "aten::zero_",
                                         "aten::zeros", "aten::empty"));
}

TEST(TorchSource, FollowsTorchToTheThreadsThatItCarriesItsCallbacksTo) {
  at::set_num_interop_threads(2);
  const RecordedWindow window;
  void* session = window.Start();
  std::latch done(1);
  at::launch([&done] {
    (void)at::ones({7});
    done.count_down();
  });
  done.wait();
  std::thread([] { (void)at::zeros({7}); }).join();  // a plain thread is not torch's
  TheSource().stop(session);
  window.Close();
  const auto ones = window.Named("aten::ones");
  ASSERT_EQ(ones.size(), 1u);
  EXPECT_NE(ones[0].logical_thread, TheSource().thread_number());
  EXPECT_THAT(window.Named("aten::zeros"), IsEmpty());
}

TEST(TorchSource, SeesEveryThreadWhenAskedTo) {
  std::latch started(1), go(1);
  std::thread older([&] {
    (void)at::ones({1});
    started.count_down();
    go.wait();
    (void)at::zeros({1});
  });
  started.wait();
  const RecordedWindow window;
  void* session = window.Start(torch_source_flags::kAllThreads);
  go.count_down();
  older.join();
  std::thread([] { (void)at::zeros({1}); }).join();
  (void)at::zeros({1});
  TheSource().stop(session);
  (void)at::zeros({1});
  window.Close();
  std::set<uint64_t> threads;
  for (const RecordedRange& range : window.Named("aten::zeros"))
    threads.insert(range.logical_thread);
  EXPECT_EQ(window.Named("aten::zeros").size(), 3u);
  EXPECT_EQ(threads.size(), 3u);
}

TEST(TorchSource, ClosesRangesThatAnExceptionLeaves) {
  const at::Tensor two = at::ones({2});
  const at::Tensor three = at::ones({3});
  const RecordedWindow window;
  void* session = window.Start();
  EXPECT_ANY_THROW((void)at::add(two, three));
  (void)at::add(two, two);
  TheSource().stop(session);
  window.Close();
  const auto adds = window.Named("aten::add");
  ASSERT_EQ(adds.size(), 2u);
  EXPECT_EQ(adds[0].record.depth, 0);
  EXPECT_EQ(adds[1].record.depth, 0);
  EXPECT_EQ(adds[0].record.flags, 0);
}

TEST(TorchSource, IsNotDisturbedByAnObserverThatThrows) {
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { throw std::runtime_error("start"); },
      [](const at::RecordFunction&, at::ObserverContext*) { throw std::runtime_error("end"); }));
  const RecordedWindow window;
  void* session = window.Start();
  (void)at::empty({2});
  TheSource().stop(session);
  at::removeCallback(handle);
  window.Close();
  EXPECT_THAT(window.Names(), ElementsAre("aten::empty"));
}

TEST(TorchSource, LosesNothingBelowTheCapAndCountsTheRestAboveIt) {
  const RecordedWindow window(uint64_t{2} * kChunkBytes);
  void* session = window.Start(torch_source_flags::kInputs);
  constexpr uint64_t kOperators = 20000;
  const at::Tensor x = at::ones({2, 3, 4});
  const uint64_t before = 3;  // ones, empty, fill_
  for (uint64_t i = 0; i < kOperators; ++i)
    (void)at::add(x, x);
  TheSource().stop(session);
  window.Close();
  const WindowCounts counts = window.Counts();
  EXPECT_GT(counts.dropped, 0u);
  EXPECT_EQ(counts.recorded + counts.dropped, kOperators + before);
  EXPECT_EQ(window.Ranges().size(), counts.recorded);
  for (const RecordedRange& range : window.Ranges())
    ASSERT_THAT(range.name, ::testing::StartsWith("aten::"));
}

}  // namespace
}  // namespace opscope
