// Hooks in the GOT entries of torch (capture_mode.h): what is recorded is what callbacks record, and everybody
// else gets theirs.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "sources/got/patched_entries.h"
#include "sources/torch/hooks/call_site_cache.h"
#include "sources/torch/hooks/capture_programs_for_test.h"

namespace opscope {
namespace {

constexpr uint64_t kSmallCap = uint64_t{1} << 16;

// All tests of this program record by hooks where the variable does not forbid it, and the processor has
// them.
class TryRouteBeforeTests final : public testing::Environment {
  void SetUp() override { EXPECT_STREQ(TheTorchSource().probe_capture_mode(), kWithoutHooks); }
};
const testing::Environment* const kEnvironment = testing::AddGlobalTestEnvironment(new TryRouteBeforeTests);

// Of one window. `flags`: of torch_source_flags.
template <typename Work>
std::vector<RecordedRange> RangesOf(const Work& work, uint32_t flags, bool by_callbacks) {
  if (by_callbacks) setenv(kCaptureModeVariable, "callbacks", 1);
  const RecordedWindow window;
  void* session = window.Start(flags);
  EXPECT_EQ(window.Route().starts_with("callbacks: "), by_callbacks);
  EXPECT_EQ(AreHooksInstalled(), !by_callbacks);
  work();
  TheSource().stop(session);
  window.Close();
  EXPECT_EQ(window.Counts().dropped, 0u);
  unsetenv(kCaptureModeVariable);
  return window.Ranges();
}

// Torch's numbers go on from run to run.
int64_t FirstSequence(const std::vector<RecordedRange>& ranges) {
  int64_t first = INT64_MAX;
  for (const RecordedRange& range : ranges) {
    if (range.sequence >= 0) first = std::min(first, range.sequence);
  }
  return first;
}

void ExpectEqual(const std::vector<RecordedRange>& ours, const std::vector<RecordedRange>& expected) {
  ASSERT_EQ(ours.size(), expected.size());
  const int64_t first = FirstSequence(ours), first_expected = FirstSequence(expected);
  for (size_t i = 0; i < ours.size(); ++i) {
    const RecordedRange &a = ours[i], &b = expected[i];
    SCOPED_TRACE(testing::Message() << i << ": " << b.name);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.overload, b.overload);
    EXPECT_EQ(a.record.depth, b.record.depth);
    EXPECT_EQ(a.record.scope, b.record.scope);
    EXPECT_EQ(a.record.kind, b.record.kind);
    EXPECT_EQ(a.record.flags, b.record.flags);
    EXPECT_EQ(a.has_sequence, b.has_sequence);
    ASSERT_EQ(a.sequence < 0, b.sequence < 0);
    if (a.sequence >= 0) {
      EXPECT_EQ(a.sequence - first, b.sequence - first_expected);
    }
    EXPECT_EQ(a.forward_thread != 0, b.forward_thread != 0);
    EXPECT_EQ(a.words, b.words);
    EXPECT_EQ(a.arguments, b.arguments);
  }
}

TEST_F(TorchCaptureMode, RecordsWhatCallbacksRecord) {
  TrainOneStep();
  for (const uint32_t flags :
       {0u, torch_source_flags::kInputs, torch_source_flags::kInputs | torch_source_flags::kOverloadNames,
        torch_source_flags::kStacks | torch_source_flags::kModules}) {
    SCOPED_TRACE(flags);
    ExpectEqual(RangesOf(&TrainOneStep, flags, false), RangesOf(&TrainOneStep, flags, true));
  }
}

// What a callback of others has beside; it wants all that can be wanted.
struct Seen {
  std::atomic<uint64_t> starts{0}, ends{0}, outputs{0}, ids{0};
};
Seen beside;
at::RecordFunctionCallback Other(double probability) {
  at::RecordFunctionCallback callback(
      [](const at::RecordFunction& range) {
        ++beside.starts;
        if (range.handle() != 0) ++beside.ids;
        return std::unique_ptr<at::ObserverContext>();
      },
      [](const at::RecordFunction& range, at::ObserverContext*) {
        ++beside.ends;
        if (!range.outputs().empty()) ++beside.outputs;
      });
  callback.needsInputs(true).needsOutputs(true).needsIds(true).samplingProb(probability);
  return callback;
}

TEST_F(TorchCaptureMode, LeavesOtherCallbacksAllThatTheyWant) {
  for (const bool is_global : {false, true}) {
    for (const double probability : {1.0, 0.25}) {
      SCOPED_TRACE(testing::Message() << is_global << " " << probability);
      for (auto* count : {&beside.starts, &beside.ends, &beside.outputs, &beside.ids})
        count->store(0);
      const RecordedWindow window;
      void* session = window.Start();
      Adds(100);
      const at::RecordFunctionCallback callback = Other(probability);
      const auto other = is_global ? at::addGlobalCallback(callback) : at::addThreadLocalCallback(callback);
      Adds(1000);
      at::removeCallback(other);
      Adds(100);
      TheSource().stop(session);
      window.Close();
      EXPECT_EQ(window.Named("aten::add").size(), 1200u);
      EXPECT_EQ(beside.starts, beside.ends);
      EXPECT_EQ(beside.starts, beside.outputs);
      EXPECT_EQ(beside.starts, beside.ids);
      if (probability == 1.0) {
        EXPECT_EQ(beside.starts, 1003u);  // aten::ones, its empty and its fill_
      } else {
        EXPECT_TRUE(beside.starts > 150 && beside.starts < 350) << beside.starts;
      }
    }
  }
}

TEST_F(TorchCaptureMode, LeavesToCallbacksThatWereThereBeforeAllThatTheyWant) {
  for (const bool is_global : {false, true}) {
    SCOPED_TRACE(is_global);
    for (auto* count : {&beside.starts, &beside.ends, &beside.outputs, &beside.ids})
      count->store(0);
    const auto other = is_global ? at::addGlobalCallback(Other(1.0)) : at::addThreadLocalCallback(Other(1.0));
    const RecordedWindow window;
    void* session = window.Start();
    Adds(50);
    TheSource().stop(session);
    at::removeCallback(other);
    window.Close();
    EXPECT_EQ(window.Named("aten::add").size(), 50u);
    for (const auto* count : {&beside.starts, &beside.ends, &beside.outputs, &beside.ids})
      EXPECT_EQ(count->load(), 53u);  // aten::ones, its empty and its fill_
  }
}

TEST_F(TorchCaptureMode, SeesAGlobalCallbackOfAnotherThreadAtOnce) {
  const RecordedWindow window;
  void* session = window.Start();
  Adds(100);
  at::CallbackHandle other = 0;
  std::thread([&] { other = at::addGlobalCallback(Other(1.0)); }).join();
  beside.starts.store(0);
  Adds(10);
  EXPECT_EQ(beside.starts, 13u);
  at::removeCallback(other);
  TheSource().stop(session);
}

// From within libtorch_cpu.so, as the interpreter of TorchScript does: the dispatcher's own callBoxed is in a header,
// and asks from whatever was compiled with it.
void CallBoxed(const char* name, const char* overload, torch::jit::Stack stack) {
  torch::jit::findOperatorFor({name, overload})->getOperation()(stack);
}

// Boxed calls of different operators come from one place: while it was seen to call one that can be observed, the
// first calls of another are taken for that. Once per process: what comes next shows that the place has both.
TEST_F(TorchCaptureMode, CountsAFewTooManyAtMostPastTheCap) {
  const at::Tensor x = at::ones({2});
  const RecordedWindow window(kSmallCap);
  void* session = window.Start();
  Adds(20000);
  const uint64_t before = window.Counts().dropped;
  EXPECT_GT(before, 0u);
  for (int i = 0; i < 100; ++i)
    CallBoxed("aten::relu", "", {x});
  const uint64_t of_relu = window.Counts().dropped - before;
  for (int i = 0; i < 1000; ++i)
    CallBoxed("aten::size", "int", {x, 0});
  const uint64_t of_size = window.Counts().dropped - before - of_relu;
  TheSource().stop(session);
  EXPECT_GE(of_relu, 100u);
  EXPECT_GT(of_size, 0u);  // else no call site was taken for one of relu alone, and every call was looked up
  EXPECT_LE(of_size, call_site_cache::kRecheckInterval);
}

// torch does not let observers see this one.
void AskSizes(int times) {
  const at::Tensor x = at::ones({2});
  for (int i = 0; i < times; ++i) {
    (void)at::_ops::size_int::call(x, 0);
    CallBoxed("aten::relu", "", {x});  // both at one place
    CallBoxed("aten::size", "int", {x, 0});
  }
}

// Operators are refused early past the cap, with torch's GOT entries restored and patched again in between.
TEST_F(TorchCaptureMode, CountsPastTheCapWhatCallbacksCount) {
  const auto dropped_of = [](uint32_t flags, bool by_callbacks) {
    if (by_callbacks) setenv(kCaptureModeVariable, "callbacks", 1);
    const RecordedWindow window(kSmallCap);
    void* session = window.Start(flags);
    EXPECT_EQ(window.Route().starts_with("callbacks: "), by_callbacks);
    Adds(20000);
    const uint64_t full = window.Counts().dropped;
    EXPECT_GT(full, 0u);
    for (int i = 0; i < 3; ++i)
      TrainOneStep();
    (void)at::ones({2}).is_leaf();
    AskSizes(200);
    Adds(1000);
    const RecordedWindow other;  // of the same thread: callbacks again, for both
    void* beside_it = other.Start();
    Adds(10);
    TheSource().stop(beside_it);
    other.Close();
    EXPECT_EQ(other.Named("aten::add").size(), 10u);
    Adds(10);
    TheSource().stop(session);
    window.Close();
    unsetenv(kCaptureModeVariable);
    return window.Counts().dropped - full;
  };
  for (const uint32_t flags : {0u, torch_source_flags::kInputs, torch_source_flags::kStacks}) {
    SCOPED_TRACE(flags);
    EXPECT_EQ(dropped_of(flags, false), dropped_of(flags, true));
  }
  EXPECT_EQ(RangesOf([] { Adds(10); }, 0, false).size(), 13u);  // the next window has them all
}

TEST_F(TorchCaptureMode, CountsPastTheCapOnManyThreads) {
  constexpr uint64_t kThreads = 4, kAdds = 20000;
  const RecordedWindow window(kSmallCap);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      void* session = window.Start();
      Adds(kAdds);
      AskSizes(500);
      TheSource().stop(session);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  window.Close();
  constexpr uint64_t kOfEach = 3 + kAdds + 3 + 500 * 2;  // ones, its empty and its fill_; relu, its clamp_min
  const uint64_t counted = window.Ranges().size() + window.Counts().dropped;
  EXPECT_GE(counted, kThreads * kOfEach);
  // When four threads call relu at once its place, which is also that of size, seems to be of relu alone.
  EXPECT_LE(counted, kThreads * (kOfEach + call_site_cache::kRecheckInterval));
}

TEST_F(TorchCaptureMode, LeavesOutRangesThatAreSwitchedOff) {
  const RecordedWindow window;
  void* session = window.Start();
  Adds(5);
  {
    const at::RecordFunctionGuard off(false);
    Adds(7);
  }
  Adds(11);
  TheSource().stop(session);
  window.Close();
  EXPECT_EQ(window.Named("aten::add").size(), 16u);
}

TEST_F(TorchCaptureMode, ReturnsTheSlotOfARangeThatIsEndedBeforeItGoes) {
  static const auto enter = c10::Dispatcher::singleton().findSchemaOrThrow("profiler::_record_function_enter_new", "");
  static const auto exit =
      c10::Dispatcher::singleton().findSchemaOrThrow("profiler::_record_function_exit", "_RecordFunction");
  const RecordedWindow window;
  void* session = window.Start();
  const auto run = [] {
    torch::jit::Stack stack{c10::IValue("labelled"), c10::IValue()};
    enter.callBoxed(&stack);
    exit.callBoxed(&stack);
  };
  run();
  const OpenScope* free_slot = opscope_tls->free_slots;
  for (int i = 0; i < 10; ++i)
    run();
  EXPECT_EQ(opscope_tls->free_slots, free_slot);
  TheSource().stop(session);
  window.Close();
  EXPECT_EQ(window.Named("labelled").size(), 11u);
}

TEST_F(TorchCaptureMode, LetsEachOfTwoWindowsOnAThreadSeeAll) {
  const RecordedWindow outer, inner;
  void* first = outer.Start();
  Adds(2);
  void* second = inner.Start();
  Adds(3);
  TheSource().stop(second);
  EXPECT_TRUE(AreHooksInstalled()) << "the first window goes on";
  Adds(4);
  TheSource().stop(first);
  outer.Close();
  inner.Close();
  EXPECT_EQ(outer.Named("aten::add").size(), 9u);
  EXPECT_EQ(inner.Named("aten::add").size(), 3u);
}

TEST_F(TorchCaptureMode, IsNotTakenForAWindowOfAllThreads) {
  const RecordedWindow all;
  void* session = all.Start(torch_source_flags::kAllThreads);
  EXPECT_EQ(all.Route(), "callbacks: all threads are recorded");
  EXPECT_FALSE(AreHooksInstalled());
  const RecordedWindow mine;
  void* own = mine.Start();
  EXPECT_TRUE(AreHooksInstalled());
  Adds(3);
  std::thread([] { Adds(2); }).join();
  TheSource().stop(own);
  TheSource().stop(session);
  all.Close();
  mine.Close();
  EXPECT_EQ(all.Named("aten::add").size(), 5u);
  EXPECT_EQ(mine.Named("aten::add").size(), 3u);
}

TEST_F(TorchCaptureMode, LeavesAForeignHookAlone) {
  const std::vector<GotEntry> entries = FindGotEntries("libtorch_cpu.so", "_ZN2at14RecordFunctionD1Ev");
  ASSERT_FALSE(entries.empty());
  void (*theirs)(at::RecordFunction*) = [](at::RecordFunction* range) { range->at::RecordFunction::~RecordFunction(); };
  PatchedEntries patched;
  {
    const std::lock_guard lock(GotLock());
    ASSERT_TRUE(patched.Patch(entries[0], reinterpret_cast<void*>(theirs)));
  }
  const RecordedWindow window;
  void* session = window.Start();
  EXPECT_EQ(window.Route(), "callbacks: another library has patched torch's GOT entries");
  EXPECT_EQ(*entries[0].address, reinterpret_cast<void*>(theirs));
  Adds(3);
  TheSource().stop(session);
  window.Close();
  EXPECT_EQ(*entries[0].address, reinterpret_cast<void*>(theirs));
  EXPECT_EQ(window.Named("aten::add").size(), 3u);
  const std::lock_guard lock(GotLock());
  patched.Restore();
}

TEST_F(TorchCaptureMode, IsTakenByNoWindowAfterAVerdictAgainstIt) {
  TheTorchSource().set_probe_result("torch's RecordFunction looks different");
  const RecordedWindow window;
  void* session = window.Start();
  EXPECT_EQ(window.Route(), "callbacks: torch's RecordFunction looks different");
  EXPECT_FALSE(AreHooksInstalled());
  TheSource().stop(session);
  TheTorchSource().set_probe_result("");
}

}  // namespace
}  // namespace opscope
