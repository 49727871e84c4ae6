// SPDX-License-Identifier: Apache-2.0
#include "sources/streams/stream_of.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <thread>

#include "sources/streams/failures.h"

namespace opscope {
namespace {

struct FreeWindow {
  void operator()(Window* window) const { opscope_window_free(window); }
};
using OwnedWindow = std::unique_ptr<Window, FreeWindow>;

OwnedWindow OpenWindow() {
  WindowOptions options;
  options.native_threads = NativeThreads::kNone;
  const char* error = nullptr;
  OwnedWindow window(opscope_window_open(&options, &error));
  EXPECT_NE(window, nullptr) << error;
  return window;
}

uint64_t NoNumber() {
  return 0;
}

class StreamOfBinding : public testing::Test {
 protected:
  void BindTo(const OwnedWindow& window) {
    binding_.Bind(opscope_window_slot(window.get()), opscope_window_id(window.get()));
  }
  Stream* stream() { return StreamOf(binding_, &NoNumber); }

  WindowBinding binding_;
};

TEST_F(StreamOfBinding, IsAttachedOnceAndFoundAgain) {
  const OwnedWindow window = OpenWindow();
  BindTo(window);
  int asked = 0;
  const auto number = [&asked] { return static_cast<uint64_t>(77 + asked++); };
  EXPECT_EQ(KnownStreamOf(binding_.slot, binding_.generation), nullptr);
  Stream* first = StreamOf(binding_, number);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(StreamOf(binding_, number), first);
  EXPECT_EQ(KnownStreamOf(binding_.slot, binding_.generation), first);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(first->chunk->logical_thread, 77u);
}

TEST_F(StreamOfBinding, IsEachThreadsOwn) {
  const OwnedWindow window = OpenWindow();
  BindTo(window);
  Stream* mine = stream();
  Stream* other = nullptr;
  std::thread([&] { other = stream(); }).join();
  EXPECT_NE(mine, nullptr);
  EXPECT_NE(other, nullptr);
  EXPECT_NE(mine, other);
}

TEST_F(StreamOfBinding, IsNotThereBeforeAWindowIsBoundNorAfter) {
  EXPECT_EQ(stream(), nullptr);
  const OwnedWindow window = OpenWindow();
  EXPECT_EQ(stream(), nullptr);
  BindTo(window);
  EXPECT_NE(stream(), nullptr);
  binding_.Unbind();
  EXPECT_EQ(stream(), nullptr);
}

TEST_F(StreamOfBinding, IsNotThereWhilePaused) {
  const OwnedWindow window = OpenWindow();
  BindTo(window);
  Stream* before = stream();
  binding_.Pause(true);
  EXPECT_EQ(stream(), nullptr);
  EXPECT_EQ(KnownStreamOf(binding_.slot, binding_.window), before) << "what began before the pause still ends";
  binding_.Pause(false);
  EXPECT_EQ(stream(), before);
}

// A copy of a callback that comes late meets another window in the same slot.
TEST_F(StreamOfBinding, IsOfNoLaterWindowInTheSameSlot) {
  OwnedWindow window = OpenWindow();
  BindTo(window);
  const uint32_t slot = binding_.slot;
  ASSERT_NE(stream(), nullptr);
  opscope_window_close(window.get());
  EXPECT_EQ(stream(), nullptr);
  window.reset();
  for (uint32_t i = 0; i <= kMaxWindows; ++i) {
    const OwnedWindow later = OpenWindow();
    WindowBinding of_later;
    of_later.Bind(opscope_window_slot(later.get()), opscope_window_id(later.get()));
    EXPECT_NE(StreamOf(of_later, &NoNumber), nullptr);
    EXPECT_EQ(stream(), nullptr);
    if (of_later.slot == slot) return;
  }
  FAIL() << "no later window got slot " << slot;
}

TEST_F(StreamOfBinding, IsNotThereForASlotThatCannotBe) {
  const OwnedWindow window = OpenWindow();
  EXPECT_EQ(AttachStream(kMaxWindows, opscope_window_id(window.get()), 0), nullptr);
}

TEST(Failures, AreCountedOnAllThreads) {
  const uint64_t before = FailureCount();
  CountFailure();
  std::thread([] { CountFailure(); }).join();
  EXPECT_EQ(FailureCount(), before + 2);
}

}  // namespace
}  // namespace opscope
